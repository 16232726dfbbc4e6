// Command go-random plays random legal actions.
package main

import (
	"context"
	"log"

	"asara"
	"asara/asarav1"
)

type bot struct{ *asara.Match }

func (b bot) Decide(_ context.Context, decision *asarav1.Decision) []*asarav1.Action {
	return []*asarav1.Action{b.RandomAction(decision)}
}

func main() {
	if err := asara.Run(func(match *asara.Match) asara.Player { return bot{match} }); err != nil {
		log.Fatal(err)
	}
}
