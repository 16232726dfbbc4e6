package asara

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"asara/asarav1"
)

const (
	firstPause = 100 * time.Millisecond
	longPause  = 2 * time.Second
	silence    = 20 * time.Second // then the client asks whether the referee is still there
)

// session is one call of Run: a stream at a time, and the matches that outlive streams.
type session struct {
	client      Client
	credentials credentials.TransportCredentials
	seat        string // ASARA_SEAT: the seat to expect, where the process plays one match
	welcome     *asarav1.Welcome
	tables      map[string]*table
	promised    map[string]*witness // of matches that wait for other bots' nonces
	running     sync.WaitGroup
}

func newSession(client Client) (*session, error) {
	if err := client.complete(); err != nil {
		return nil, err
	}
	credentials, err := client.credentials()
	if err != nil {
		return nil, err
	}
	return &session{
		client:      client,
		credentials: credentials,
		seat:        os.Getenv("ASARA_SEAT"),
		tables:      map[string]*table{},
		promised:    map[string]*witness{},
	}, nil
}

// run dials until the referee says goodbye, refuses the bot, or is silent for too long.
func (s *session) run(ctx context.Context) error {
	defer s.running.Wait()
	defer s.closeTables()

	log, address := s.client.Log, s.client.Address
	lastContact := time.Now()
	pause, warned := firstPause, false
	for {
		began := time.Now()
		welcomed, err := s.stream(ctx)
		var refused *RefusedError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("asara: stopped: %w", context.Cause(ctx))
		case errors.As(err, &refused):
			return err
		}

		if welcomed {
			lastContact, warned = time.Now(), false
		} else if time.Since(lastContact) > s.client.GiveUpAfter {
			return fmt.Errorf("asara: no referee at %s for %s: %w",
				address, s.client.GiveUpAfter, err)
		}
		if !warned {
			log.Warn("asara: no stream; dialling again", "address", address, "error", err)
			warned = true
		}
		if time.Since(began) > longPause {
			pause = firstPause
		}
		if !sleep(ctx, jittered(pause)) {
			return fmt.Errorf("asara: stopped: %w", context.Cause(ctx))
		}
		pause = min(2*pause, longPause)
	}
}

// stream dials and serves one stream to its end; the error is nil if nothing more will come.
func (s *session) stream(ctx context.Context) (welcomed bool, err error) {
	conn, err := grpc.NewClient(s.client.Address,
		grpc.WithTransportCredentials(s.credentials),
		// A way that is lost without a word, as between machines, is noticed after 40 s.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: silence, Timeout: silence}),
		grpc.WithNoProxy()) // a proxy is often set where the referee is next door
	if err != nil {
		return false, fmt.Errorf("asara: ASARA_ADDRESS: %w", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	call, err := asarav1.NewPlayServiceClient(conn).Play(ctx, grpc.ForceCodecV2(newCodec()))
	if err != nil {
		return false, refusal(s.client.Address, nil, err)
	}
	line := &line{call: call}
	line.send(s.hello())
	for {
		var heard heard
		err := call.RecvMsg(&heard)
		if errors.Is(err, io.EOF) {
			return welcomed, errors.New("closed without a goodbye")
		}
		if err != nil {
			return welcomed, refusal(s.client.Address, call.Trailer(), err)
		}
		response := &heard.response
		if welcome := response.GetWelcome(); welcome != nil {
			if theirs := welcome.GetProtocolVersion(); theirs != protocolVersion {
				return true, otherVersion(s.client.Address, theirs)
			}
			s.welcome, welcomed = welcome, true
			continue
		}
		if goodbye := response.GetGoodbye(); goodbye != nil {
			s.client.Log.Info("asara: goodbye", "reason", goodbye.GetReason())
			return true, nil
		}
		s.pass(letter{
			response: response, message: heard.message, line: line, received: time.Now(),
		})
	}
}

// pass hands a message to the match that it belongs to. Messages of an unknown kind, which a newer
// referee may send, are left out.
func (s *session) pass(l letter) {
	switch r := l.response.GetResponse().(type) {
	case *asarav1.PlayResponse_DealCommitted:
		s.addNonce(r.DealCommitted, l)
	case *asarav1.PlayResponse_MatchStarted:
		s.started(r.MatchStarted, l)
	case *asarav1.PlayResponse_Update:
		s.put(r.Update.GetMatchId(), r.Update.GetSequence(), l)
	case *asarav1.PlayResponse_Decision:
		s.put(r.Decision.GetMatchId(), r.Decision.GetSequence(), l)
	case *asarav1.PlayResponse_Rejection:
		s.put(r.Rejection.GetMatchId(), 0, l)
	case *asarav1.PlayResponse_MatchEnded:
		id := r.MatchEnded.GetMatchId()
		if witness := s.promised[id]; witness != nil { // called off before it began
			witness.hear(l.message)
			witness.close()
			delete(s.promised, id)
			return
		}
		s.put(id, r.MatchEnded.GetSequence(), l)
		s.close(id)
	}
}

// addNonce answers with the bot's share in the deal of a match that is about to begin.
func (s *session) addNonce(committed *asarav1.DealCommitted, l letter) {
	id, seat := committed.GetMatchId(), committed.GetSeat()
	if s.tables[id] != nil {
		s.client.Log.Warn("asara: asked for a nonce after the match began", "match", id)
		return
	}
	nonce, err := makeNonce(s.client.nonceSeed, id, seat)
	if err != nil {
		s.client.Log.Error("asara: no nonce can be drawn", "match", id, "error", err)
		return
	}
	witness := s.promised[id]
	if witness == nil {
		witness = newWitness(s.client.Log, s.client.Transcript, id, seat)
		s.promised[id] = witness
	}
	witness.promised(committed, l.message, nonce)
	answer := &asarav1.Nonce{MatchId: id, Nonce: witness.nonce}
	l.line.send(&asarav1.PlayRequest{Request: &asarav1.PlayRequest_Nonce{Nonce: answer}})
}

// started opens a table, except where a match goes on that this process has been playing.
func (s *session) started(started *asarav1.MatchStarted, l letter) {
	id := started.GetMatchId()
	if s.tables[id] != nil && !started.GetResumed() {
		s.close(id) // begun anew
	}
	if s.tables[id] == nil {
		if seat := strconv.Itoa(int(started.GetSeat())); s.seat != "" && s.seat != seat {
			s.client.Log.Warn("asara: not seated as announced",
				"match", id, "seat", seat, "ASARA_SEAT", s.seat)
		}
		witness := s.promised[id]
		delete(s.promised, id)
		if witness == nil {
			witness = newWitness(s.client.Log, s.client.Transcript, id, started.GetSeat())
		}
		table := newTable(&s.client, newMatch(started, s.welcome, s.client.Seed, witness))
		s.tables[id] = table
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			table.run()
		}()
	}
	s.put(id, 0, l)
}

func (s *session) put(id string, sequence int64, l letter) {
	table := s.tables[id]
	if table == nil {
		s.client.Log.Warn("asara: a message for a match that is not played here", "match", id)
		return
	}
	table.received = max(table.received, sequence)
	table.mailbox.put(l)
}

// close ends what the match's player is deciding; what waits in its mailbox is still told to it.
func (s *session) close(id string) {
	if table := s.tables[id]; table != nil {
		table.cancel()
		table.mailbox.close()
		delete(s.tables, id)
	}
}

func (s *session) closeTables() {
	for id := range s.tables {
		s.close(id)
	}
	for _, witness := range s.promised {
		witness.close()
	}
}

// line serialises what the matches send on one stream.
type line struct {
	mutex sync.Mutex
	call  grpc.BidiStreamingClient[asarav1.PlayRequest, asarav1.PlayResponse]
}

// send says nothing of failure: the same break ends the receiving side, which deals with it.
func (l *line) send(request *asarav1.PlayRequest) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_ = l.call.Send(request)
}

// sleep reports whether it slept to the end.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jittered keeps bots that lost the same referee from dialling in step.
func jittered(pause time.Duration) time.Duration {
	return time.Duration(float64(pause) * (0.75 + rand.Float64()/2))
}
