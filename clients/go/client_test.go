package asara

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	"asara/asarav1"
)

func TestAMatchFromStartToEnd(t *testing.T) {
	var match *Match
	player := &recorder{t: t}
	client := serve(t, func(s *serverStream) error {
		want := &asarav1.Hello{
			ProtocolVersion: 1, Token: "secret", BotName: "tester 1", Language: language(),
			MaxMatches: 2, LiveUpdates: true, OmitPublicView: true,
		}
		if !proto.Equal(s.hello, want) {
			t.Errorf("hello is %v, want %v", s.hello, want)
		}
		s.welcomeTo("m")
		s.send(buildDecision("m", 1, 4))
		s.expectReply("m", 1, build(3))
		s.send(&asarav1.Update{MatchId: "m", Events: []*asarav1.Event{asariEvent(5)}, Sequence: 5})
		s.send(buildDecision("m", 2, 6))
		s.expectReply("m", 2, build(3))
		s.send(&asarav1.MatchEnded{MatchId: "m", Events: []*asarav1.Event{asariEvent(7)}, Sequence: 7})
		return s.goodbye()
	})
	client.BotName, client.MaxMatches = "tester 1", 2
	client.LiveUpdates, client.OmitPublicView = true, true
	client.NewPlayer = func(m *Match) Player { match = m; return player }
	runToGoodbye(t, client)

	player.expect("started", "updated", "asked", "updated", "updated", "asked", "updated", "ended")
	player.expectEvents(4, 5, 6, 7)
	if match.ID != "m" || match.Seat != 1 || match.Seats != 2 || match.Entry != "tester" ||
		match.Limits.GetMatches() != 7 || match.Started.GetSequence() != 3 {
		t.Errorf("match is %+v", match)
	}
}

func TestAFunctionIsAPlayer(t *testing.T) {
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		s.send(buildDecision("m", 1, 4))
		s.expectReply("m", 1, build(2), build(3))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player {
		return DecideFunc(func(_ context.Context, d *asarav1.Decision) []*asarav1.Action {
			return d.GetLegalActions()[1:]
		})
	}
	runToGoodbye(t, client)
}

func TestARejectedAnswerIsReplacedByTheFirstLegalAction(t *testing.T) {
	player := &recorder{t: t}
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		s.send(buildDecision("m", 1, 4))
		s.expectReply("m", 1, build(3))
		s.send(&asarav1.Rejection{
			MatchId: "m", DecisionId: 1, LegalActions: []*asarav1.Action{build(1), build(2)},
		})
		s.expectReply("m", 1, build(1))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player { return player }
	runToGoodbye(t, client)
	player.expect("started", "updated", "asked")
}

type answersRejections struct{ recorder }

func (a *answersRejections) Rejected(
	_ context.Context, decision *asarav1.Decision, rejection *asarav1.Rejection,
) []*asarav1.Action {
	if len(decision.GetLegalActions()) != 3 {
		a.t.Errorf("the decision is %v", decision)
	}
	return rejection.GetLegalActions()[1:]
}

func TestAPlayerMayAnswerARejectionItself(t *testing.T) {
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		s.send(buildDecision("m", 1, 4))
		s.expectReply("m", 1, build(3))
		s.send(&asarav1.Rejection{
			MatchId: "m", DecisionId: 1, LegalActions: []*asarav1.Action{build(1), build(2)},
		})
		s.expectReply("m", 1, build(2))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player { return &answersRejections{recorder{t: t}} }
	runToGoodbye(t, client)
}

func TestAMessageForAnUnknownMatchIsIgnored(t *testing.T) {
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		s.send(buildDecision("unknown", 1, 4))
		s.send(&asarav1.MatchEnded{MatchId: "unknown"})
		s.send(buildDecision("m", 1, 4))
		s.expectReply("m", 1, build(3))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
	runToGoodbye(t, client)
}

func TestARestartedMatchHasANewPlayer(t *testing.T) {
	players := make(chan *recorder, 2)
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m", "m")
		s.send(buildDecision("m", 1, 4))
		s.expectReply("m", 1, build(3))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player {
		player := &recorder{t: t}
		players <- player
		return player
	}
	runToGoodbye(t, client)
	if len(players) != 2 {
		t.Errorf("there were %d players, want 2", len(players))
	}
}

func TestMatchesAreDecidedAtTheSameTime(t *testing.T) {
	const matches = 8
	var meeting sync.WaitGroup
	meeting.Add(matches)
	names := strings.Split("abcdefgh", "")
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo(names...)
		for _, name := range names {
			s.send(buildDecision(name, 1, 4))
		}
		replies := map[string]bool{}
		for range names {
			request, err := s.call.Recv()
			if err != nil {
				return err
			}
			replies[request.GetReply().GetMatchId()] = true
		}
		if len(replies) != matches {
			t.Errorf("replies came for %v", replies)
		}
		return s.goodbye()
	})
	client.MaxMatches = matches
	client.NewPlayer = func(*Match) Player {
		return DecideFunc(func(_ context.Context, d *asarav1.Decision) []*asarav1.Action {
			meeting.Done()
			meeting.Wait()
			return last(d)
		})
	}
	runToGoodbye(t, client)
}

// concurrencyProbe counts the calls of Send that run at the same time.
type concurrencyProbe struct {
	asarav1.PlayService_PlayClient
	now, most atomic.Int32
}

func (c *concurrencyProbe) Send(*asarav1.PlayRequest) error {
	c.most.Store(max(c.most.Load(), c.now.Add(1)))
	for range 100 {
		runtime.Gosched() // others may send now
	}
	c.now.Add(-1)
	return nil
}

func TestConcurrentMatchesSendOneRequestAtATime(t *testing.T) {
	var senders sync.WaitGroup
	call := &concurrencyProbe{}
	shared := &requestStream{call: call}
	for range 8 {
		senders.Add(1)
		go func() {
			defer senders.Done()
			shared.send(&asarav1.PlayRequest{})
		}()
	}
	senders.Wait()
	if most := call.most.Load(); most != 1 {
		t.Errorf("%d sent at the same time", most)
	}
}

func TestTheClockIsTheDeadline(t *testing.T) {
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		hurried := buildDecision("m", 1, 4)
		hurried.ClockUs = 20_000
		s.send(hurried)
		s.expectReply("m", 1, build(3))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player {
		return DecideFunc(func(ctx context.Context, d *asarav1.Decision) []*asarav1.Action {
			<-ctx.Done()
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("the context ended with %v", ctx.Err())
			}
			return last(d)
		})
	}
	runToGoodbye(t, client)
}

func TestTheEndOfTheMatchEndsTheDecision(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	player := &recorder{t: t, ended: ended, decide: func(
		ctx context.Context, d *asarav1.Decision,
	) []*asarav1.Action {
		close(asked)
		<-ctx.Done()
		return last(d)
	}}
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m", "other")
		s.send(buildDecision("m", 1, 4))
		<-asked
		s.send(&asarav1.MatchEnded{MatchId: "m", Sequence: 4})
		s.send(buildDecision("other", 1, 4))
		s.expectReply("other", 1, build(3)) // and not the late answer to m
		return s.goodbye()
	})
	client.MaxMatches = 2
	client.NewPlayer = func(m *Match) Player {
		if m.ID == "m" {
			return player
		}
		return DecideFunc(func(_ context.Context, d *asarav1.Decision) []*asarav1.Action {
			<-ended // by then a late answer to m would have been sent
			return last(d)
		})
	}
	runToGoodbye(t, client)
	player.expect("started", "updated", "asked", "ended")
}

func TestABotStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		cancel()
		<-s.call.Context().Done()
		return nil
	})
	client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
	if err := client.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
}
