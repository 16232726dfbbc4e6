package asara

import (
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"asara/asarav1"
)

func TestActionsReadAsInReplays(t *testing.T) {
	for message, want := range map[string]string{
		"choose_space { space { area: AREA_BANK number: 12 } }":                          "dispatch bank 12",
		"choose_space { space { area: AREA_COLOURED_BUILDING number: 1 } }":              "dispatch coloured-building 1",
		"choose_space { space { area: AREA_BUILDING_CIRCLE number: 5 } }":                "dispatch circle 5",
		"choose_space { space { area: AREA_HOUSE_OF_THE_BOTTLE_GENIE number: 3 } }":      "dispatch genie 3",
		"choose_space { space { area: 77 number: 3 } }":                                  "dispatch 77 3",
		"lay_buyers { buyers: BUYER_COLOUR_BLUE }":                                       "lay blue",
		"lay_buyers { buyers: [BUYER_COLOUR_BLUE, BUYER_COLOUR_GREEN] face_down: true }": "lay blue green face-down",
		"take_section { section { kind: SECTION_KIND_TRUNK colour: COLOUR_RED } }":       "take red trunk",
		"decline {}":               "decline",
		"build_count { count: 3 }": "build 3",
		"found_tower { colour: COLOUR_RED base_gold: true turret_gold: true }":       "found red gold-base gold-turret",
		"found_tower { colour: COLOUR_WHITE }":                                       "found white",
		"extend_tower { tower: 1 section { kind: 3 colour: COLOUR_RED gold: true }}": "extend 1 red window gold",
		"light_window { tower: 1 gold: true }":                                       "light 1 gold",
		"search_pile { kind: SECTION_KIND_TURRET }":                                  "search turret",
		"pay_offer { asari: 4 }":                                                     "pay 4",
		"keep_lit_windows { colours: [COLOUR_RED, COLOUR_BLACK] }":                   "keep red black",
		"return_lit_window { colour: COLOUR_RED }":                                   "return red",
		"wish { space { area: AREA_BANK number: 12 } }":                              "wish bank 12",
		"choose_buyer { buyer: BUYER_COLOUR_BLUE }":                                  "choose blue",
		"": "no action",
	} {
		action := &asarav1.Action{}
		if err := prototext.Unmarshal([]byte(message), action); err != nil {
			t.Fatal(err)
		}
		if got := FormatAction(action); got != want {
			t.Errorf("%s reads %q, want %q", message, got, want)
		}
	}
	if got := FormatAction(nil); got != "no action" {
		t.Errorf("nil reads %q", got)
	}
}

func TestEveryAreaHasAWord(t *testing.T) {
	for value := range asarav1.Area_name {
		if area := asarav1.Area(value); value != 0 && areaWords[area] == "" {
			t.Errorf("%v has no word", area)
		}
	}
}
