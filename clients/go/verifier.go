package asara

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"asara/asarav1"
)

const nonceBytes = 32

// makeNonce returns 32 random bytes, or bytes derived from seed, match and seat if there is a seed.
func makeNonce(seed, matchID string, seat int32) ([]byte, error) {
	if seed == "" {
		nonce := make([]byte, nonceBytes)
		_, err := rand.Read(nonce)
		return nonce, err
	}
	mac := hmac.New(sha256.New, []byte(seed))
	fmt.Fprintf(mac, "nonce/%s/%d", matchID, seat)
	return mac.Sum(nil), nil
}

// verifier verifies one match, from its first message to its last, across reconnections: it checks
// commitments and nonces, and keeps the digest and the transcript. Violations and failures of the
// transcript are logged; neither stops the match. It belongs to the protocolClient until the match
// starts, then to the activeMatch.
type verifier struct {
	log               *slog.Logger
	digest            [sha256.Size]byte // of the previous digest and the last message
	commitment        []byte
	commitmentMessage []byte
	nonce             []byte
	sharedDeal        bool
	transcript        *os.File
}

// newVerifier opens a transcript in the folder, unless folder is empty.
func newVerifier(log *slog.Logger, folder, matchID string, seat int32) *verifier {
	v := &verifier{log: log.With("match", matchID)}
	if folder != "" {
		var err error
		if v.transcript, err = openTranscript(folder, matchID, seat); err != nil {
			v.stopTranscript(err)
		}
	}
	return v
}

// record adds a message of the match, exactly as received, to the digest and the transcript.
func (v *verifier) record(message []byte) {
	hash := sha256.New()
	hash.Write(v.digest[:])
	hash.Write(message)
	hash.Sum(v.digest[:0])
	if v.transcript == nil {
		return
	}
	record := binary.AppendUvarint(nil, uint64(len(message)))
	if _, err := v.transcript.Write(append(record, message...)); err != nil {
		v.stopTranscript(err)
	}
}

// dealCommitted records the commitment and returns the nonce to send. A commitment that is repeated
// after a reconnection is recorded once, and gets the first nonce again.
func (v *verifier) dealCommitted(
	committed *asarav1.DealCommitted, message, nonce []byte,
) *asarav1.Nonce {
	if !bytes.Equal(message, v.commitmentMessage) {
		if v.commitmentMessage == nil {
			v.commitment, v.nonce = committed.GetDealCommitment(), nonce
		} else {
			v.checkCommitment(committed.GetDealCommitment())
		}
		v.commitmentMessage = message
		v.record(message)
	}
	return &asarav1.Nonce{MatchId: committed.GetMatchId(), Nonce: v.nonce}
}

// matchStarted checks the commitment and this bot's nonce; also called when the match resumes.
func (v *verifier) matchStarted(started *asarav1.MatchStarted) {
	if v.commitment == nil {
		v.commitment = started.GetDealCommitment()
	}
	v.checkCommitment(started.GetDealCommitment())
	v.sharedDeal = started.GetSharedDeal()
	if v.nonce == nil {
		return
	}
	nonces, seat := started.GetNonces(), int(started.GetSeat())
	if seat < 0 || seat >= len(nonces) || !bytes.Equal(nonces[seat], v.nonce) {
		v.reportViolation("the deal was made without the nonce of this bot")
	}
}

// matchEnded checks that the secret opens the commitment, and finishes the transcript. A match with a
// shared deal may withhold its secret; its replay has it.
func (v *verifier) matchEnded(ended *asarav1.MatchEnded) {
	defer v.finish()
	if ended.GetVoid() || (v.sharedDeal && len(ended.GetDealSecret()) == 0) {
		return
	}
	if hash := sha256.Sum256(ended.GetDealSecret()); !bytes.Equal(hash[:], v.commitment) {
		v.reportViolation(fmt.Sprintf("the secret %s does not open the commitment %s",
			inHex(ended.GetDealSecret()), inHex(v.commitment)))
	}
}

// finish closes the transcript of a match that has ended, and writes the digest beside it.
func (v *verifier) finish() {
	if v.transcript == nil {
		return
	}
	name := strings.TrimSuffix(v.transcript.Name(), ".transcript") + ".digest"
	v.close()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		_, err = fmt.Fprintf(file, "%x\n", v.digest)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		v.log.Warn("asara: no digest written", "error", err)
	}
}

// close closes the transcript of a match that has not ended.
func (v *verifier) close() {
	if v.transcript != nil {
		if err := v.transcript.Close(); err != nil {
			v.stopTranscript(err)
		}
		v.transcript = nil
	}
}

func (v *verifier) checkCommitment(commitment []byte) {
	if !bytes.Equal(commitment, v.commitment) {
		v.reportViolation(fmt.Sprintf("the commitment %s was changed to %s",
			inHex(v.commitment), inHex(commitment)))
	}
}

func (v *verifier) reportViolation(violation string) {
	v.log.Error("asara: THE DEAL CANNOT BE TRUSTED: keep the transcript and the replay, "+
		"and inform the organiser", "violation", violation)
}

func (v *verifier) stopTranscript(err error) {
	v.transcript = nil
	v.log.Warn("asara: transcript stopped", "error", err)
}

func inHex(data []byte) string { return cmp.Or(hex.EncodeToString(data), "(none)") }

// openTranscript creates a transcript under a name that no earlier run has used.
func openTranscript(folder, matchID string, seat int32) (*os.File, error) {
	name := fmt.Sprintf("%s-seat%d", fileName(matchID), seat)
	suffix := ""
	for n := 2; ; n++ {
		path := filepath.Join(folder, name+suffix+".transcript")
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		suffix = fmt.Sprintf("-%d", n)
	}
}

// fileName returns a file name that stays inside its folder for any name of a match.
func fileName(matchID string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-"
	var text strings.Builder
	for i := 0; i < len(matchID); i++ {
		if c := matchID[i]; strings.IndexByte(safe, c) < 0 || (i == 0 && c == '.') {
			fmt.Fprintf(&text, "%%%02X", c)
		} else {
			text.WriteByte(c)
		}
	}
	name := text.String()
	return name[:min(len(name), 200)]
}
