package asara

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"asara/asarav1"
)

// actionVectors are the contents of tests/vectors/actions.json.
type actionVectors struct {
	Actions, Unparsable []struct {
		Text string
		Hex  hexBytes
	}
	Invalid []string
}

func TestActionsAreFormattedAndParsedAsTheVectorsSay(t *testing.T) {
	var vectors actionVectors
	readVectors(t, "actions.json", &vectors)
	if len(vectors.Actions) == 0 || len(vectors.Invalid) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, vector := range append(vectors.Actions, vectors.Unparsable...) {
		action := &asarav1.Action{}
		if err := proto.Unmarshal(vector.Hex, action); err != nil {
			t.Fatal(err)
		}
		if got := FormatAction(action); got != vector.Text {
			t.Errorf("%x reads %q, want %q", vector.Hex, got, vector.Text)
		}
	}
	for _, vector := range vectors.Actions {
		action, err := ParseAction(vector.Text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := proto.Marshal(action); err != nil || !bytes.Equal(got, vector.Hex) {
			t.Errorf("%q is %x (%v), want %x", vector.Text, got, err, vector.Hex)
		}
	}
	for _, vector := range vectors.Unparsable {
		vectors.Invalid = append(vectors.Invalid, vector.Text)
	}
	for _, text := range vectors.Invalid {
		if action, err := ParseAction(text); err == nil || action != nil {
			t.Errorf("%q is parsed as %v", text, action)
		}
	}
	if got := FormatAction(nil); got != "no action" {
		t.Errorf("nil reads %q", got)
	}
}

func TestTheWrongWordIsNamed(t *testing.T) {
	for text, fault := range map[string]string{
		"sell red trunk":        `no verb "sell"; one of dispatch, lay, take, `,
		"take red trnk":         `no section kind "trnk"; one of base, trunk, window, turret`,
		"dispatch bakn 12":      `no area "bakn"; one of base-market, trunk-market, `,
		"take red trunk golden": `unexpected "golden"`,
		"build three":           `"three" is not a number`,
		"build":                 "a number is missing",
		"dispatch spies":        "the number of a space is missing",
		"keep":                  "a colour is missing",
		"keep white red":        `not in canonical form; write "keep red white"`,
	} {
		_, err := ParseAction(text)
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v, want %q", text, err, fault)
		}
	}
}

func TestEveryAreaHasAWord(t *testing.T) {
	for value := range asarav1.Area_name {
		if area := asarav1.Area(value); value != 0 && areaWords[area] == "" {
			t.Errorf("%v has no word", area)
		}
	}
}
