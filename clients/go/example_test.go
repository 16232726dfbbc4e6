package asara_test

import (
	"context"
	"log"

	"asara"
	"asara/asarav1"
)

// thrifty declines whenever it can and otherwise plays the first legal action.
type thrifty struct{ match *asara.Match }

func (t *thrifty) Decide(_ context.Context, decision *asarav1.Decision) []*asarav1.Action {
	for _, action := range decision.GetLegalActions() {
		if action.GetDecline() != nil {
			return []*asarav1.Action{action}
		}
	}
	return decision.GetLegalActions()[:1]
}

func (t *thrifty) MatchEnded(ended *asarav1.MatchEnded) {
	result := ended.GetResults()[t.match.Seat]
	log.Printf("%s: rank %d with %d prestige", t.match.ID, result.GetRank(), result.GetPrestige())
}

func Example() {
	err := asara.Run(func(match *asara.Match) asara.Player { return &thrifty{match} })
	if err != nil {
		log.Fatal(err)
	}
}

// A bot that plays four matches at once and receives the events of every turn.
func ExampleClient() {
	bot := asara.Client{
		NewPlayer:   func(match *asara.Match) asara.Player { return &thrifty{match} },
		BotName:     "thrifty 1.0",
		MaxMatches:  4,
		LiveUpdates: true,
	}
	if err := bot.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
