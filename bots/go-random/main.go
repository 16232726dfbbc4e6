// Command go-random plays random legal actions; the smallest possible bot.
package main

import (
	"context"

	"asara"
	"asara/asarav1"
)

type bot struct{ *asara.Match }

func (b bot) Decide(_ context.Context, decision *asarav1.Decision) []*asarav1.Action {
	return []*asarav1.Action{b.RandomAction(decision)}
}

func main() {
	client := asara.Client{
		NewPlayer:  func(match *asara.Match) asara.Player { return bot{match} },
		BotName:    "go-random",
		MaxMatches: 16,
	}
	asara.Exit(client.Run(context.Background()))
}
