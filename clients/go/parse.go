package asara

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"asara/asarav1"
)

const longestNumber = 4 // digits

// ParseAction returns the action of a text form, the inverse of [FormatAction]. The error for any
// other text names the wrong word.
func ParseAction(text string) (*asarav1.Action, error) {
	w := &wordReader{words: strings.Fields(text)}
	canonical := strings.Join(w.words, " ")
	action := w.action()
	if w.fault == nil && len(w.words) > 0 {
		w.fail("unexpected %q", w.words[0])
	}
	if w.fault == nil && FormatAction(action) != canonical {
		w.fail("not in canonical form; write %q", FormatAction(action))
	}
	if w.fault != nil {
		return nil, fmt.Errorf("action %q: %w", text, w.fault)
	}
	return action, nil
}

var verbs = []string{
	"dispatch", "lay", "take", "decline", "build", "found", "extend", "light", "search", "pay", "keep",
	"wish", "choose", "return",
}

// wordReader removes the words that it reads. After a fault it returns zero values, and the fault
// stays the first one.
type wordReader struct {
	words []string
	fault error
}

func (w *wordReader) action() *asarav1.Action {
	action := &asarav1.Action{}
	switch verb := w.next(); verb {
	case "dispatch":
		action.Action = &asarav1.Action_ChooseSpace{ChooseSpace: &asarav1.ChooseSpace{Space: w.space()}}
	case "lay":
		action.Action = &asarav1.Action_LayBuyers{LayBuyers: w.layBuyers()}
	case "take":
		action.Action = &asarav1.Action_TakeSection{TakeSection: &asarav1.TakeSection{Section: w.section()}}
	case "decline":
		action.Action = &asarav1.Action_Decline{Decline: &asarav1.Decline{}}
	case "build":
		action.Action = &asarav1.Action_BuildCount{BuildCount: &asarav1.BuildCount{Count: w.number("a number")}}
	case "found":
		action.Action = &asarav1.Action_FoundTower{FoundTower: &asarav1.FoundTower{
			Colour: w.colour(), BaseGold: w.flag("gold-base"), TurretGold: w.flag("gold-turret"),
		}}
	case "extend":
		action.Action = &asarav1.Action_ExtendTower{ExtendTower: &asarav1.ExtendTower{
			Tower: w.number("a number"), Section: w.section(),
		}}
	case "light":
		action.Action = &asarav1.Action_LightWindow{LightWindow: &asarav1.LightWindow{
			Tower: w.number("a number"), Gold: w.flag("gold"),
		}}
	case "search":
		action.Action = &asarav1.Action_SearchPile{SearchPile: &asarav1.SearchPile{Kind: w.kind()}}
	case "pay":
		action.Action = &asarav1.Action_PayOffer{PayOffer: &asarav1.PayOffer{Asari: w.number("a number")}}
	case "keep":
		action.Action = &asarav1.Action_KeepLitWindows{KeepLitWindows: w.keepLitWindows()}
	case "wish":
		action.Action = &asarav1.Action_Wish{Wish: &asarav1.Wish{Space: w.space()}}
	case "choose":
		action.Action = &asarav1.Action_ChooseBuyer{ChooseBuyer: &asarav1.ChooseBuyer{Buyer: w.buyer()}}
	case "return":
		action.Action = &asarav1.Action_ReturnLitWindow{
			ReturnLitWindow: &asarav1.ReturnLitWindow{Colour: w.colour()},
		}
	default:
		w.fail("no verb %q; one of %s", verb, strings.Join(verbs, ", "))
	}
	return action
}

func (w *wordReader) fail(format string, arguments ...any) {
	if w.fault == nil {
		w.fault = fmt.Errorf(format, arguments...)
	}
}

func (w *wordReader) next() string {
	if len(w.words) == 0 {
		return ""
	}
	word := w.words[0]
	w.words = w.words[1:]
	return word
}

func (w *wordReader) number(what string) int32 {
	word := w.next()
	if word == "" {
		w.fail("%s is missing", what)
		return 0
	}
	number, err := strconv.ParseUint(word, 10, 32)
	if err != nil || len(word) > longestNumber {
		w.fail("%q is not %s", word, what)
	}
	return int32(number)
}

// flag reads the word if it is the next one.
func (w *wordReader) flag(word string) bool {
	if len(w.words) == 0 || w.words[0] != word {
		return false
	}
	w.words = w.words[1:]
	return true
}

func (w *wordReader) space() *asarav1.Space {
	word := w.next()
	for area, name := range areaWords {
		if name == word {
			return &asarav1.Space{Area: area, Number: w.number("the number of a space")}
		}
	}
	names := make([]string, 0, len(areaWords))
	for area := range int32(len(asarav1.Area_name)) {
		if name := areaWords[asarav1.Area(area)]; name != "" {
			names = append(names, name)
		}
	}
	w.unknown("area", word, names)
	return nil
}

func (w *wordReader) section() *asarav1.Section {
	colour := w.colour()
	return &asarav1.Section{Colour: colour, Kind: w.kind(), Gold: w.flag("gold")}
}

func (w *wordReader) colour() asarav1.Colour {
	return asarav1.Colour(w.enum("colour", "COLOUR_", asarav1.Colour_name))
}

func (w *wordReader) buyer() asarav1.BuyerColour {
	return asarav1.BuyerColour(w.enum("buyer", "BUYER_COLOUR_", asarav1.BuyerColour_name))
}

func (w *wordReader) kind() asarav1.SectionKind {
	return asarav1.SectionKind(w.enum("section kind", "SECTION_KIND_", asarav1.SectionKind_name))
}

// enum reads a value of an enum other than zero, by its name in lower case without the prefix.
func (w *wordReader) enum(what, prefix string, names map[int32]string) int32 {
	word := w.next()
	words := make([]string, 0, len(names))
	for value := int32(1); names[value] != ""; value++ {
		name := enumWord(prefix, names[value])
		if name == word {
			return value
		}
		words = append(words, name)
	}
	w.unknown(what, word, words)
	return 0
}

func (w *wordReader) unknown(what, word string, expected []string) {
	if word == "" {
		w.fail("a %s is missing", what)
	} else {
		w.fail("no %s %q; one of %s", what, word, strings.Join(expected, ", "))
	}
}

func (w *wordReader) layBuyers() *asarav1.LayBuyers {
	lay := &asarav1.LayBuyers{}
	for w.fault == nil && len(w.words) > 0 && w.words[0] != "face-down" {
		lay.Buyers = append(lay.Buyers, w.buyer())
	}
	lay.FaceDown = w.flag("face-down")
	slices.Sort(lay.Buyers)
	if n := len(lay.Buyers); n < 1 || n > 2 || (n == 2 && !lay.FaceDown) {
		w.fail("lay one buyer, or two face-down")
	}
	return lay
}

func (w *wordReader) keepLitWindows() *asarav1.KeepLitWindows {
	keep := &asarav1.KeepLitWindows{Colours: []asarav1.Colour{w.colour()}}
	for w.fault == nil && len(w.words) > 0 {
		keep.Colours = append(keep.Colours, w.colour())
	}
	slices.Sort(keep.Colours)
	return keep
}
