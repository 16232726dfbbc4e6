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

// makeNonce draws a nonce, or derives it from the seed where there is one.
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

// witness is what a bot keeps of a match to hold the referee to its word: its nonce, the digest of
// all messages, and a transcript if it is wished. It outlives the streams. Before the match begins
// it belongs to the session, then to the match's table.
type witness struct {
	log        *slog.Logger
	digest     [sha256.Size]byte
	committed  []byte // the message that asked for the nonce
	commitment []byte
	nonce      []byte
	mirrored   bool // other matches have the same deal
	transcript *os.File
}

// newWitness opens a transcript in the folder, unless that is empty.
func newWitness(log *slog.Logger, folder, matchID string, seat int32) *witness {
	w := &witness{log: log.With("match", matchID)}
	if folder != "" {
		var err error
		if w.transcript, err = openTranscript(folder, matchID, seat); err != nil {
			w.complain(err)
		}
	}
	return w
}

// hear adds a message of the match, byte for byte as it came.
func (w *witness) hear(message []byte) {
	hash := sha256.New()
	hash.Write(w.digest[:])
	hash.Write(message)
	hash.Sum(w.digest[:0])
	if w.transcript == nil {
		return
	}
	record := binary.AppendUvarint(nil, uint64(len(message)))
	if _, err := w.transcript.Write(append(record, message...)); err != nil {
		w.complain(err)
	}
}

// promised hears that the referee is bound, and keeps the nonce to answer with. Asked again after
// a break, it counts once and the nonce stays.
func (w *witness) promised(committed *asarav1.DealCommitted, message, nonce []byte) {
	if bytes.Equal(message, w.committed) {
		return
	}
	if w.committed == nil {
		w.commitment, w.nonce = committed.GetDealCommitment(), nonce
	} else {
		w.compare(committed.GetDealCommitment())
	}
	w.committed = message
	w.hear(message)
}

// started compares what the match began with.
func (w *witness) started(started *asarav1.MatchStarted) {
	if w.commitment == nil {
		w.commitment = started.GetDealCommitment()
	}
	w.compare(started.GetDealCommitment())
	w.mirrored = started.GetMirrored()
	if w.nonce == nil {
		return
	}
	nonces, seat := started.GetNonces(), int(started.GetSeat())
	if seat < 0 || seat >= len(nonces) || !bytes.Equal(nonces[seat], w.nonce) {
		w.accuse("the deal was made without the nonce of this bot")
	}
}

// ended checks that the secret is the one that the referee was bound to. That of a mirrored match
// is not told: the replay has it.
func (w *witness) ended(ended *asarav1.MatchEnded) {
	if ended.GetVoid() || (w.mirrored && len(ended.GetDealSecret()) == 0) {
		return
	}
	if hash := sha256.Sum256(ended.GetDealSecret()); !bytes.Equal(hash[:], w.commitment) {
		w.accuse(fmt.Sprintf("the secret %s does not open the commitment %s: "+
			"the deal is not the one it was bound to", inHex(ended.GetDealSecret()), inHex(w.commitment)))
	}
}

func (w *witness) close() {
	if w.transcript != nil {
		if err := w.transcript.Close(); err != nil {
			w.complain(err)
		}
		w.transcript = nil
	}
}

func (w *witness) compare(commitment []byte) {
	if !bytes.Equal(commitment, w.commitment) {
		w.accuse(fmt.Sprintf("the referee was bound by %s, and changed that to %s",
			inHex(w.commitment), inHex(commitment)))
	}
}

func (w *witness) accuse(what string) {
	w.log.Error("asara: THE DEAL CANNOT BE TRUSTED: keep the transcript and the replay, "+
		"and tell the organiser", "why", what)
}

// complain ends the transcript, and nothing else.
func (w *witness) complain(err error) {
	w.transcript = nil
	w.log.Warn("asara: no further transcript", "error", err)
}

func inHex(data []byte) string { return cmp.Or(hex.EncodeToString(data), "(none)") }

// openTranscript makes a new file: one that is there already, of another run perhaps, stays.
func openTranscript(folder, matchID string, seat int32) (*os.File, error) {
	name := fmt.Sprintf("%s-seat%d", fileName(matchID), seat)
	again := ""
	for n := 2; ; n++ {
		path := filepath.Join(folder, name+again+".transcript")
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		again = fmt.Sprintf("-%d", n)
	}
}

// fileName turns the name of a match into that of a file, whatever the referee calls the match.
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
