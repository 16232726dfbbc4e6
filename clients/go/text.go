package asara

import (
	"strconv"
	"strings"

	"asara/asarav1"
)

var areaWords = map[asarav1.Area]string{
	asarav1.Area_AREA_BASE_MARKET:               "base-market",
	asarav1.Area_AREA_TRUNK_MARKET:              "trunk-market",
	asarav1.Area_AREA_WINDOW_MARKET:             "window-market",
	asarav1.Area_AREA_TURRET_MARKET:             "turret-market",
	asarav1.Area_AREA_BUILDING_CIRCLE:           "circle",
	asarav1.Area_AREA_BANK:                      "bank",
	asarav1.Area_AREA_COLOURED_BUILDING:         "coloured-building",
	asarav1.Area_AREA_HOUSE_OF_SPIES:            "spies",
	asarav1.Area_AREA_CALIPHS_PATRONAGE:         "patronage",
	asarav1.Area_AREA_TENT:                      "tent",
	asarav1.Area_AREA_HOUSE_OF_LIGHTED_WINDOWS:  "lit-windows",
	asarav1.Area_AREA_HOUSE_OF_THE_BOTTLE_GENIE: "genie",
}

// FormatAction returns the short text form of an action, which replays and the referee's logs also
// use, such as "dispatch bank 12" or "take red trunk gold". An action with no member set reads "no
// action"; enum values unknown to this version read as numbers.
func FormatAction(action *asarav1.Action) string {
	switch a := action.GetAction().(type) {
	case *asarav1.Action_ChooseSpace:
		return words("dispatch", spaceWords(a.ChooseSpace.GetSpace()))
	case *asarav1.Action_LayBuyers:
		laid := []string{"lay"}
		for _, buyer := range a.LayBuyers.GetBuyers() {
			laid = append(laid, enumWord("BUYER_COLOUR_", buyer.String()))
		}
		return words(append(laid, flag(a.LayBuyers.GetFaceDown(), "face-down"))...)
	case *asarav1.Action_TakeSection:
		return words("take", sectionWords(a.TakeSection.GetSection()))
	case *asarav1.Action_Decline:
		return "decline"
	case *asarav1.Action_BuildCount:
		return words("build", number(a.BuildCount.GetCount()))
	case *asarav1.Action_FoundTower:
		found := a.FoundTower
		return words("found", colourWord(found.GetColour()),
			flag(found.GetBaseGold(), "gold-base"), flag(found.GetTurretGold(), "gold-turret"))
	case *asarav1.Action_ExtendTower:
		extend := a.ExtendTower
		return words("extend", number(extend.GetTower()), sectionWords(extend.GetSection()))
	case *asarav1.Action_LightWindow:
		light := a.LightWindow
		return words("light", number(light.GetTower()), flag(light.GetGold(), "gold"))
	case *asarav1.Action_SearchPile:
		return words("search", enumWord("SECTION_KIND_", a.SearchPile.GetKind().String()))
	case *asarav1.Action_PayOffer:
		return words("pay", number(a.PayOffer.GetAsari()))
	case *asarav1.Action_KeepLitWindows:
		kept := []string{"keep"}
		for _, colour := range a.KeepLitWindows.GetColours() {
			kept = append(kept, colourWord(colour))
		}
		return words(kept...)
	case *asarav1.Action_Wish:
		return words("wish", spaceWords(a.Wish.GetSpace()))
	case *asarav1.Action_ChooseBuyer:
		return words("choose", enumWord("BUYER_COLOUR_", a.ChooseBuyer.GetBuyer().String()))
	case *asarav1.Action_ReturnLitWindow:
		return words("return", colourWord(a.ReturnLitWindow.GetColour()))
	}
	return "no action"
}

func formatActions(actions []*asarav1.Action) string {
	texts := make([]string, len(actions))
	for i, action := range actions {
		texts[i] = FormatAction(action)
	}
	return strings.Join(texts, ", ")
}

func spaceWords(space *asarav1.Space) string {
	area, ok := areaWords[space.GetArea()]
	if !ok {
		area = number(int32(space.GetArea()))
	}
	return words(area, number(space.GetNumber()))
}

func sectionWords(section *asarav1.Section) string {
	return words(colourWord(section.GetColour()),
		enumWord("SECTION_KIND_", section.GetKind().String()), flag(section.GetGold(), "gold"))
}

func colourWord(colour asarav1.Colour) string { return enumWord("COLOUR_", colour.String()) }

func enumWord(prefix, name string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }

func number(n int32) string { return strconv.Itoa(int(n)) }

func flag(set bool, word string) string {
	if set {
		return word
	}
	return ""
}

// words joins the parts that are not empty.
func words(parts ...string) string {
	var filled []string
	for _, part := range parts {
		if part != "" {
			filled = append(filled, part)
		}
	}
	return strings.Join(filled, " ")
}
