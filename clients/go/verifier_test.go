package asara

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"asara/asarav1"
)

const alarm = "THE DEAL CANNOT BE TRUSTED"

// hexBytes are bytes that the vectors contain in hexadecimal.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "tests", "vectors", name))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDigestAndTranscriptFollowTheVectors(t *testing.T) {
	var vector struct {
		MatchID  string `json:"match_id"`
		Seat     int32
		Seed     string
		Messages []struct{ Message, Digest hexBytes }
	}
	readVectors(t, "digest.json", &vector)
	folder := t.TempDir()
	var log bytes.Buffer
	nonce, err := makeNonce(vector.Seed, vector.MatchID, vector.Seat)
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier(logTo(&log), folder, vector.MatchID, vector.Seat)
	var messages [][]byte
	for i, step := range vector.Messages {
		messages = append(messages, step.Message)
		var response asarav1.PlayResponse
		if err := proto.Unmarshal(step.Message, &response); err != nil {
			t.Fatal(err)
		}
		if committed := response.GetDealCommitted(); committed != nil {
			v.dealCommitted(committed, step.Message, nonce)
		} else {
			v.record(step.Message)
		}
		if started := response.GetMatchStarted(); started != nil {
			v.matchStarted(started)
		}
		if ended := response.GetMatchEnded(); ended != nil {
			v.matchEnded(ended)
		}
		if !bytes.Equal(v.digest[:], step.Digest) {
			t.Errorf("digest %d is %x, want %x", i+1, v.digest, step.Digest)
		}
	}
	v.close()
	if log.Len() > 0 {
		t.Errorf("an honest referee was not trusted: %s", &log)
	}
	kept := readTranscript(t, filepath.Join(folder, "m1-seat1.transcript"))
	if !reflect.DeepEqual(kept, messages) {
		t.Errorf("the transcript holds %x, want %x", kept, messages)
	}
	last := vector.Messages[len(vector.Messages)-1].Digest
	digest, err := os.ReadFile(filepath.Join(folder, "m1-seat1.digest"))
	if want := hex.EncodeToString(last) + "\n"; err != nil || string(digest) != want {
		t.Errorf("the digest beside the transcript is %q (%v), want %q", digest, err, want)
	}
}

// dealVectors are the contents of tests/vectors/joint_deal.json.
type dealVectors struct {
	Deals []struct {
		Seed                 string
		TournamentSecret     hexBytes `json:"tournament_secret"`
		TournamentCommitment hexBytes `json:"tournament_commitment"`
		MatchID              string   `json:"match_id"`
		SharedDeal           string   `json:"shared_deal"`
		MatchSecret          hexBytes `json:"match_secret"`
		DealCommitment       hexBytes `json:"deal_commitment"`
		Nonces               []hexBytes
		DealSecret           hexBytes `json:"deal_secret"`
		Order                []int    `json:"buyers_0_of_20"`
	}
	SeededNonces []struct {
		Seed    string
		MatchID string `json:"match_id"`
		Seat    int32
		Nonce   hexBytes
	} `json:"seeded_nonces"`
}

func expectBytes(t *testing.T, name string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s is %x, want %x", name, got, want)
	}
}

// Deals can be recomputed from their documentation alone.
func TestDealsFollowTheVectors(t *testing.T) {
	var vectors dealVectors
	readVectors(t, "joint_deal.json", &vectors)
	if len(vectors.Deals) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range vectors.Deals {
		tournament := mac([]byte(v.Seed), []byte("asara/tournament/deals"))
		expectBytes(t, "tournament secret", tournament, v.TournamentSecret)
		expectBytes(t, "tournament commitment", hash(tournament), v.TournamentCommitment)
		label := "match/" + v.MatchID
		if v.SharedDeal != "" {
			label = "block/" + v.SharedDeal
		}
		secret := mac(tournament, []byte(label))
		expectBytes(t, "match secret", secret, v.MatchSecret)
		expectBytes(t, "deal commitment", hash(secret), v.DealCommitment)
		deal := secret
		if len(v.Nonces) > 0 {
			text := []byte("joint/")
			for _, nonce := range v.Nonces {
				if len(nonce) == 0 {
					nonce = make([]byte, 32)
				}
				text = append(text, nonce...)
			}
			deal = mac(secret, text)
		}
		expectBytes(t, "deal secret", deal, v.DealSecret)
		if order := shuffled(deal, "buyers/0", 20); !reflect.DeepEqual(order, v.Order) {
			t.Errorf("the order is %v, want %v", order, v.Order)
		}
	}
}

func TestSeededNoncesFollowTheVectors(t *testing.T) {
	var vectors dealVectors
	readVectors(t, "joint_deal.json", &vectors)
	if len(vectors.SeededNonces) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range vectors.SeededNonces {
		nonce, err := makeNonce(v.Seed, v.MatchID, v.Seat)
		if err != nil {
			t.Fatal(err)
		}
		expectBytes(t, "nonce", nonce, v.Nonce)
	}
}

func mac(key, message []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(message)
	return m.Sum(nil)
}

func hash(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

func shuffled(secret []byte, label string, count int) []int {
	items := make([]int, count)
	for i := range items {
		items[i] = i
	}
	var block []byte
	var blocks uint32
	word := func() uint64 {
		if len(block) == 0 {
			message := binary.BigEndian.AppendUint32(append([]byte(label), 0), blocks)
			block = mac(secret, message)
			blocks++
		}
		w := binary.BigEndian.Uint32(block)
		block = block[4:]
		return uint64(w)
	}
	for i := count - 1; i > 0; i-- {
		n := uint64(i + 1)
		w := word()
		for w >= 1<<32/n*n {
			w = word()
		}
		j := int(w % n)
		items[i], items[j] = items[j], items[i]
	}
	return items
}

func TestNoncesWithoutASeedAreDrawn(t *testing.T) {
	one, err1 := makeNonce("", "m", 0)
	two, err2 := makeNonce("", "m", 0)
	if err1 != nil || err2 != nil || len(one) != 32 || bytes.Equal(one, two) {
		t.Errorf("%x (%v) and %x (%v) should be two draws of 32 bytes", one, err1, two, err2)
	}
}

func TestAJointDealOverAStreamThatBreaks(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, 32)
	committed := &asarav1.DealCommitted{MatchId: "m", Seat: 1, DealCommitment: hash(secret)}
	var first []byte
	client := serve(t,
		func(s *serverStream) error {
			s.welcome()
			s.send(committed)
			first = s.expectNonce("m")
			return s.broken()
		},
		func(s *serverStream) error {
			s.welcome()
			s.send(committed)
			nonce := s.expectNonce("m")
			if len(nonce) != 32 || !bytes.Equal(nonce, first) {
				t.Errorf("the second nonce is %x, the first one %x", nonce, first)
			}
			s.send(&asarav1.MatchStarted{
				MatchId: "m", Seat: 1, Seats: 2, Sequence: 3,
				DealCommitment: hash(secret), Nonces: [][]byte{make([]byte, 32), nonce},
			})
			s.send(buildDecision("m", 1, 4))
			s.expectReply("m", 1, build(3))
			s.send(&asarav1.MatchEnded{MatchId: "m", Sequence: 4, DealSecret: secret})
			return s.goodbye()
		})
	var log bytes.Buffer
	client.Log = logTo(&log)
	client.Seed = ""
	client.Transcript = filepath.Join(t.TempDir(), "transcripts")
	var match *Match
	client.NewPlayer = func(m *Match) Player {
		match = m
		return DecideFunc(func(_ context.Context, d *asarav1.Decision) []*asarav1.Action { return last(d) })
	}
	runToGoodbye(t, client)
	if strings.Contains(log.String(), alarm) {
		t.Errorf("an honest referee was not trusted: %s", &log)
	}
	kept := readTranscript(t, filepath.Join(client.Transcript, "m-seat1.transcript"))
	if len(kept) != 4 {
		t.Fatalf("%d messages are in the transcript, want 4: a repeated commitment counts once", len(kept))
	}
	var digest [32]byte
	for _, message := range kept {
		digest = sha256.Sum256(append(digest[:], message...))
	}
	if match.Digest() != digest {
		t.Errorf("the digest is %x, that of the transcript %x", match.Digest(), digest)
	}
}

var (
	dealSecret  = make([]byte, 32)
	otherSecret = []byte("other")
	ownNonce    = bytes.Repeat([]byte{1}, 32)
	committed   = &asarav1.DealCommitted{MatchId: "m", DealCommitment: hash(dealSecret)}
)

func started(commitment []byte, nonces ...[]byte) *asarav1.MatchStarted {
	return &asarav1.MatchStarted{MatchId: "m", DealCommitment: commitment, Nonces: nonces}
}

// commitmentCases are messages of matches with a part of the expected alarm, or "" for no alarm.
var commitmentCases = map[string]struct {
	play  func(v *verifier)
	alarm string
}{
	"honest": {func(v *verifier) {
		v.dealCommitted(committed, []byte("1"), ownNonce)
		v.matchStarted(started(hash(dealSecret), ownNonce))
		v.matchEnded(&asarav1.MatchEnded{DealSecret: dealSecret})
	}, ""},
	"void": {func(v *verifier) {
		v.matchStarted(started(hash(dealSecret)))
		v.matchEnded(&asarav1.MatchEnded{Void: true})
	}, ""},
	"shared deal": {func(v *verifier) {
		start := started(hash(dealSecret))
		start.SharedDeal = true
		v.matchStarted(start)
		v.matchEnded(&asarav1.MatchEnded{})
	}, ""},
	"shared deal, another secret": {func(v *verifier) {
		start := started(hash(dealSecret))
		start.SharedDeal = true
		v.matchStarted(start)
		v.matchEnded(&asarav1.MatchEnded{DealSecret: otherSecret})
	}, "does not open"},
	"another secret": {func(v *verifier) {
		v.matchStarted(started(hash(dealSecret)))
		v.matchEnded(&asarav1.MatchEnded{DealSecret: otherSecret})
	}, "does not open"},
	"no secret": {func(v *verifier) {
		v.matchStarted(started(hash(dealSecret)))
		v.matchEnded(&asarav1.MatchEnded{})
	}, "secret (none)"},
	"another commitment at the start": {func(v *verifier) {
		v.dealCommitted(committed, []byte("1"), ownNonce)
		v.matchStarted(started(hash(otherSecret), ownNonce))
	}, "was changed to"},
	"another commitment when asked again": {func(v *verifier) {
		v.dealCommitted(committed, []byte("1"), ownNonce)
		v.dealCommitted(&asarav1.DealCommitted{DealCommitment: hash(otherSecret)}, []byte("2"), ownNonce)
	}, "was changed to"},
	"another commitment after a break": {func(v *verifier) {
		v.matchStarted(started(hash(dealSecret)))
		v.matchStarted(started(hash(otherSecret)))
	}, "was changed to"},
	"another nonce": {func(v *verifier) {
		v.dealCommitted(committed, []byte("1"), ownNonce)
		v.matchStarted(started(hash(dealSecret), dealSecret))
	}, "without the nonce"},
	"no nonces": {func(v *verifier) {
		v.dealCommitted(committed, []byte("1"), ownNonce)
		v.matchStarted(started(hash(dealSecret)))
	}, "without the nonce"},
}

func TestAViolationOfTheCommitmentIsLogged(t *testing.T) {
	for name, test := range commitmentCases {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			test.play(newVerifier(logTo(&log), "", "m", 0))
			if test.alarm == "" && log.Len() > 0 {
				t.Errorf("the log is %s", &log)
			}
			if test.alarm != "" && !(strings.Contains(log.String(), alarm) &&
				strings.Contains(log.String(), test.alarm)) {
				t.Errorf("the log is %q, want %q", &log, test.alarm)
			}
		})
	}
}

func TestATranscriptNeverReplacesAnotherAndStaysInItsFolder(t *testing.T) {
	folder := t.TempDir()
	quiet := logTo(io.Discard)
	for _, id := range []string{"../a b", "../a b", strings.Repeat("é", 64)} {
		newVerifier(quiet, folder, id, 0).close()
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	want := []string{
		"%2E.%2Fa%20b-seat0-2.transcript",
		"%2E.%2Fa%20b-seat0.transcript",
		strings.Repeat("%C3%A9", 33) + "%C-seat0.transcript",
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("the files are %q, want %q", names, want)
	}
}

func TestTheDigestIsWrittenBesideTheTranscriptOnceTheMatchHasEnded(t *testing.T) {
	folder := t.TempDir()
	var log bytes.Buffer
	for range 2 {
		v := newVerifier(logTo(&log), folder, "a.b", 0)
		v.record([]byte("message"))
		v.matchEnded(&asarav1.MatchEnded{Void: true})
		v.close()
	}
	newVerifier(logTo(&log), folder, "broken", 0).close()
	names, err := filepath.Glob(filepath.Join(folder, "*.digest"))
	if err != nil || len(names) != 2 || filepath.Base(names[0]) != "a.b-seat0-2.digest" {
		t.Errorf("the digests are %q (%v)", names, err)
	}
	if err := os.Remove(filepath.Join(folder, "a.b-seat0.transcript")); err != nil {
		t.Fatal(err)
	}
	v := newVerifier(logTo(&log), folder, "a.b", 0)
	v.matchEnded(&asarav1.MatchEnded{Void: true})
	kept, err := os.ReadFile(filepath.Join(folder, "a.b-seat0.digest"))
	want := hex.EncodeToString(hash(append(make([]byte, 32), "message"...))) + "\n"
	if err != nil || string(kept) != want || !strings.Contains(log.String(), "no digest written") {
		t.Errorf("the digest is %q (%v), want %q; the log is %s", kept, err, want, &log)
	}
}

func TestATranscriptThatCannotBeWrittenStopsNothing(t *testing.T) {
	var log bytes.Buffer
	v := newVerifier(logTo(&log), filepath.Join(t.TempDir(), "missing"), "m", 0)
	v.record([]byte("message"))
	v.close()
	if !strings.Contains(log.String(), "transcript stopped") {
		t.Errorf("the log is %q", &log)
	}
}

func logTo(out io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(out, nil)) }

func (s *serverStream) expectNonce(match string) []byte {
	s.t.Helper()
	request, err := s.call.Recv()
	if err != nil || request.GetNonce().GetMatchId() != match {
		s.t.Errorf("waiting for a nonce: %v, %v", request, err)
	}
	return request.GetNonce().GetNonce()
}

func readTranscript(t *testing.T, path string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var messages [][]byte
	for len(data) > 0 {
		length, n := binary.Uvarint(data)
		if n <= 0 || uint64(len(data)-n) < length {
			t.Fatalf("the transcript is cut short: %x", data)
		}
		messages = append(messages, data[n:n+int(length)])
		data = data[n+int(length):]
	}
	return messages
}
