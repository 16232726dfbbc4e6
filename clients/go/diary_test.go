package asara

import (
	"context"
	"reflect"
	"testing"
	"time"

	"asara/asarav1"
)

// diary is a player that has every hook and writes down what it is told.
type diary struct {
	t      *testing.T
	lines  []string
	events []int32
	decide func(context.Context, *asarav1.Decision) []*asarav1.Action
	ended  chan struct{}
}

func (d *diary) MatchStarted(started *asarav1.MatchStarted) {
	if started.GetResumed() {
		d.lines = append(d.lines, "resumed")
	} else {
		d.lines = append(d.lines, "started")
	}
}

func (d *diary) Decide(
	ctx context.Context, decision *asarav1.Decision,
) []*asarav1.Action {
	d.lines = append(d.lines, "asked")
	if d.decide != nil {
		return d.decide(ctx, decision)
	}
	return last(decision)
}

func (d *diary) Updated(update *asarav1.Update) {
	d.lines = append(d.lines, "updated")
	for _, event := range update.GetEvents() {
		d.events = append(d.events, event.GetAsari())
	}
}

func (d *diary) MatchEnded(*asarav1.MatchEnded) {
	d.lines = append(d.lines, "ended")
	if d.ended != nil {
		close(d.ended)
	}
}

func (d *diary) expect(lines ...string) {
	d.t.Helper()
	if !reflect.DeepEqual(d.lines, lines) {
		d.t.Errorf("the player was told %q, want %q", d.lines, lines)
	}
}

func (d *diary) expectEvents(asari ...int32) {
	d.t.Helper()
	if !reflect.DeepEqual(d.events, asari) {
		d.t.Errorf("the player was told events %v, want %v", d.events, asari)
	}
}

// run runs the client to its end.
func run(t *testing.T, client *Client) error {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- client.Run(context.Background()) }()
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		t.Fatal("the client did not stop")
		return nil
	}
}

func runToGoodbye(t *testing.T, client *Client) {
	t.Helper()
	if err := run(t, client); err != nil {
		t.Errorf("Run returned %v, want nil after goodbye", err)
	}
}
