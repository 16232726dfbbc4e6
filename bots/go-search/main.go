// Command go-search plays each legal action on to the end of the year, in worlds that its seat cannot
// tell from the true one, and takes the best. The process `asara sidecar` knows the rules.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"log"
	"math/bits"
	"os"
	"os/exec"
	"slices"
	"sync"

	"asara"
	"asara/asarav1"
	"google.golang.org/protobuf/proto"
)

type object = map[string]any

type answer struct { // with the members that this bot reads
	Error  string
	States []int
	Values []float64
}

type sidecar struct {
	sync.Mutex // a match may begin while the last one ends
	requests   *json.Encoder
	answers    *json.Decoder
}

func (s *sidecar) ask(request object) (found answer) {
	s.Lock()
	defer s.Unlock()
	if err := cmp.Or(s.requests.Encode(request), s.answers.Decode(&found)); err != nil {
		log.Fatal("sidecar: ", err)
	} else if found.Error != "" {
		log.Fatal("sidecar: ", found.Error)
	}
	return found
}

func (s *sidecar) observe(kind string, message proto.Message) {
	data, _ := proto.Marshal(message) // in JSON, a []byte is Base64
	s.ask(object{"method": "observe", kind: data})
}

type bot struct {
	*asara.Match
	*sidecar
	playouts int // for each decision; the clock may allow fewer
}

func (b bot) MatchStarted(started *asarav1.MatchStarted) { b.observe("match_started", started) }
func (b bot) MatchEnded(ended *asarav1.MatchEnded)       { b.observe("match_ended", ended) }

// Decide drops the worse half of the candidates after each round of new worlds (sequential halving).
func (b bot) Decide(_ context.Context, decision *asarav1.Decision) []*asarav1.Action {
	b.observe("decision", decision)
	leads := make([]float64, len(decision.LegalActions)) // sums over worlds
	candidates := b.Rand().Perm(len(leads))
	for len(candidates) > 1 && decision.ClockUs > 3e6 { // or any action, before the clock runs out
		requests := bits.Len(uint(len(leads)-1)) * len(candidates)
		worlds := b.ask(object{
			"method": "sample", "match_id": b.ID, "count": max(1, b.playouts/requests), "seed": b.Rand().Int(),
		}).States
		for _, index := range candidates {
			values := b.ask(object{
				"method": "play_out", "states": worlds, "actions": []int{index}, "until": "year",
				"seed": decision.DecisionId, "milliseconds": 1 + decision.ClockUs/20_000/int64(requests),
			}).Values // prestige that each seat can expect, means over the worlds
			own := values[b.Seat]
			best := slices.Max(slices.Delete(values, b.Seat, b.Seat+1)) // of the others
			leads[index] += (own - best) * float64(len(worlds))
		}
		b.ask(object{"method": "release", "states": worlds})
		slices.SortFunc(candidates, func(i, j int) int { return cmp.Compare(leads[j], leads[i]) })
		candidates = candidates[:(len(candidates)+1)/2]
	}
	return []*asarav1.Action{decision.LegalActions[candidates[0]]}
}

func main() {
	playouts := flag.Int("playouts", 100, "playouts for each decision")
	flag.Parse()
	command := exec.Command("asara", "sidecar")
	command.Stderr = os.Stderr
	in, inErr := command.StdinPipe()
	out, outErr := command.StdoutPipe()
	if err := cmp.Or(inErr, outErr, command.Start()); err != nil {
		log.Fatal(err)
	}
	s := &sidecar{requests: json.NewEncoder(in), answers: json.NewDecoder(out)}
	asara.Exit(asara.Run(func(m *asara.Match) asara.Player { return bot{m, s, *playouts} }))
}
