package asara

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"asara/asarav1"
)

// TestMain unsets the variables that would override the settings of the tests.
func TestMain(m *testing.M) {
	for _, name := range []string{"ADDRESS", "TOKEN", "SEAT", "SEED", "CA", "TRANSCRIPT", "PATIENCE_S"} {
		os.Unsetenv("ASARA_" + name)
	}
	if err, ok := exits[os.Getenv("TEST_EXIT")]; ok {
		Exit(err)
	}
	os.Exit(m.Run())
}

var exits = map[string]error{
	"0": nil,
	"1": &ConnectionLostError{Address: "unix:/x", Patience: 2 * time.Second, Cause: errors.New("no\nfile")},
	"2": misconfigured("ASARA_TOKEN is not set"),
}

func TestExitPrintsOneLineAndHasAStatus(t *testing.T) {
	for wanted, text := range map[string]string{
		"0": "", "1": "asara: no referee at unix:/x for 2 s: no file\n", "2": "asara: ASARA_TOKEN is not set\n",
	} {
		var printed bytes.Buffer
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "TEST_EXIT="+wanted)
		command.Stderr = &printed
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); strconv.Itoa(code) != wanted || printed.String() != text {
			t.Errorf("%s: status %d, %q", wanted, code, &printed)
		}
	}
}

func TestSettingsThatCannotWorkAreExplained(t *testing.T) {
	notPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(notPEM, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	newPlayer := func(*Match) Player { return nil }
	howToStart := "not set: start this bot with `asara match`, " +
		"or set ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN"
	for name, test := range map[string]struct {
		client Client
		words  []string
	}{
		"address": {Client{NewPlayer: newPlayer, Token: "t"}, []string{"ASARA_ADDRESS is " + howToStart}},
		"token": {
			Client{NewPlayer: newPlayer, Address: "unix:/x"}, []string{"ASARA_TOKEN is " + howToStart},
		},
		"address and token": {
			Client{NewPlayer: newPlayer}, []string{"ASARA_ADDRESS and ASARA_TOKEN are " + howToStart},
		},
		"port": {
			Client{NewPlayer: newPlayer, Address: "here", Token: "t"}, []string{`"here"`, "host:port"},
		},
		"path": {
			Client{NewPlayer: newPlayer, Address: "unix:", Token: "t"}, []string{"unix:/path"},
		},
		"missing CA": {
			Client{NewPlayer: newPlayer, Address: "unix:/x", Token: "t", CA: "/no/such"},
			[]string{"ASARA_CA", "/no/such"},
		},
		"CA": {
			Client{NewPlayer: newPlayer, Address: "unix:/x", Token: "t", CA: notPEM},
			[]string{"ASARA_CA", "PEM"},
		},
		"transcript": {
			Client{NewPlayer: newPlayer, Address: "unix:/x", Token: "t", Transcript: notPEM},
			[]string{"ASARA_TRANSCRIPT", "not a directory"},
		},
		"player": {Client{Address: "unix:/x", Token: "t"}, []string{"NewPlayer"}},
		"matches": {
			Client{NewPlayer: newPlayer, Address: "unix:/x", Token: "t", MaxMatches: -1},
			[]string{"MaxMatches"},
		},
		"patience": {
			Client{NewPlayer: newPlayer, Address: "unix:/x", Token: "t", Patience: -1},
			[]string{"Patience"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t, &test.client)
			var configuration *ConfigurationError
			if !errors.As(err, &configuration) {
				t.Fatalf("Run returned %v", err)
			}
			for _, word := range test.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not contain %q", err, word)
				}
			}
		})
	}
}

func TestTheEnvironmentSetsPatienceAndSeat(t *testing.T) {
	complete := func(patience time.Duration) (Client, error) {
		client := Client{
			NewPlayer: func(*Match) Player { return nil }, Address: "unix:/x", Token: "t", Patience: patience,
		}
		return client, client.complete()
	}
	if client, err := complete(0); err != nil || client.Patience != 30*time.Second || client.Seat != nil {
		t.Errorf("without variables: %v, %v, %v", client.Patience, client.Seat, err)
	}
	t.Setenv("ASARA_PATIENCE_S", "2.5")
	t.Setenv("ASARA_SEAT", "3")
	if client, err := complete(0); err != nil || client.Patience != 2500*time.Millisecond || *client.Seat != 3 {
		t.Errorf("with variables: %v, %v, %v", client.Patience, client.Seat, err)
	}
	if client, err := complete(time.Hour); err != nil || client.Patience != time.Hour {
		t.Errorf("the author's patience became %v, %v", client.Patience, err)
	}
	t.Setenv("ASARA_PATIENCE_S", "0")
	if client, err := complete(0); err != nil || client.Patience > time.Microsecond {
		t.Errorf("no patience became %v, %v", client.Patience, err)
	}
	for _, text := range []string{"soon", "-1", "nan", "1e3", "1_0", " 1"} {
		t.Setenv("ASARA_PATIENCE_S", text)
		if _, err := complete(0); err == nil || !strings.Contains(err.Error(), "ASARA_PATIENCE_S") {
			t.Errorf("%q: %v", text, err)
		}
	}
	t.Setenv("ASARA_PATIENCE_S", "")
	t.Setenv("ASARA_SEAT", "first")
	if _, err := complete(0); err == nil || !strings.Contains(err.Error(), "ASARA_SEAT") {
		t.Errorf("seat first: %v", err)
	}
}

func TestNamesAreTruncatedBetweenCharacters(t *testing.T) {
	for text, want := range map[string]string{"palace": "pala", "tür": "tür", "abcö": "abc"} {
		if got := shorten(text, 4); got != want {
			t.Errorf("shorten(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRandomNumbersDependOnSeedMatchAndSeat(t *testing.T) {
	draw := func(seed, match string, seat int32) uint64 { return newRand(seed, match, seat).Uint64() }
	if got, want := draw("7", "m1", 0), uint64(0x6760d58cc752670c); got != want {
		t.Errorf("the first number is %#x, want %#x: matches would not repeat", got, want)
	}
	seen := map[uint64]bool{}
	for _, number := range []uint64{
		draw("7", "m1", 0), draw("8", "m1", 0), draw("7", "m2", 0), draw("7", "m1", 1),
		draw("7m", "1", 0),
	} {
		if seen[number] {
			t.Errorf("%#x came twice", number)
		}
		seen[number] = true
	}
}

func TestRandomActionsFollowTheVectors(t *testing.T) {
	var vectors struct {
		Choices []struct {
			Seed       string
			MatchID    string `json:"match_id"`
			Seat       int
			DecisionID int64 `json:"decision_id"`
			Count      int
			Index      int
		}
	}
	readVectors(t, "random_action.json", &vectors)
	if len(vectors.Choices) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range vectors.Choices {
		started := &asarav1.MatchStarted{MatchId: v.MatchID, Seat: int32(v.Seat)}
		decision := &asarav1.Decision{DecisionId: v.DecisionID}
		for range v.Count {
			decision.LegalActions = append(decision.LegalActions, &asarav1.Action{})
		}
		action := newMatch(started, nil, v.Seed, nil).RandomAction(decision)
		if got := slices.Index(decision.LegalActions, action); got != v.Index {
			t.Errorf("%+v: index %d", v, got)
		}
	}
}

func TestWithoutASeedEveryRunDiffers(t *testing.T) {
	seeds := map[string]bool{}
	for range 2 {
		client := Client{
			NewPlayer: func(*Match) Player { return nil }, Address: "unix:/x", Token: "t",
		}
		if err := client.complete(); err != nil {
			t.Fatal(err)
		}
		seeds[client.Seed] = true
	}
	if len(seeds) != 2 {
		t.Errorf("seeds are %v", seeds)
	}
}

func TestATranscriptIsRefusedInTheSandbox(t *testing.T) {
	t.Setenv("ASARA_CONTAINED", "1")
	newPlayer := func(*Match) Player { return nil }
	client := Client{NewPlayer: newPlayer, Address: "unix:/x", Token: "t", Transcript: t.TempDir()}
	err := client.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "--sandbox none") {
		t.Errorf("Run returned %v", err)
	}
}

type firstAction struct{}

func (*firstAction) Decide(_ context.Context, decision *asarav1.Decision) []*asarav1.Action {
	return decision.GetLegalActions()[:1]
}

func TestThePlaceOfDecideIsNamed(t *testing.T) {
	function := DecideFunc(func(context.Context, *asarav1.Decision) []*asarav1.Action { return nil })
	for name, player := range map[string]Player{"method": &firstAction{}, "function": function} {
		if place := decidePlace(player); !strings.Contains(place, "settings_test.go:") {
			t.Errorf("%s: %q", name, place)
		}
	}
}
