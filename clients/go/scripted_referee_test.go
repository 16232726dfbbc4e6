package asara

import (
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"asara/asarav1"
)

// timeout ends tests that fail; those that pass take milliseconds.
const timeout = 10 * time.Second

// scriptedReferee is a gRPC server that runs one script per stream.
type scriptedReferee struct {
	asarav1.UnimplementedPlayServiceServer
	t       *testing.T
	scripts []func(*serverStream) error
	streams atomic.Int32
}

// serverStream is the referee's side of one stream.
type serverStream struct {
	t     *testing.T
	call  asarav1.PlayService_PlayServer
	hello *asarav1.Hello
}

func (r *scriptedReferee) Play(call asarav1.PlayService_PlayServer) error {
	n := int(r.streams.Add(1))
	if n > len(r.scripts) {
		r.t.Errorf("stream %d was opened, only %d were expected", n, len(r.scripts))
		return status.Error(codes.Unauthenticated, "too many streams")
	}
	s := &serverStream{t: r.t, call: call}
	request, err := call.Recv()
	if err != nil {
		r.t.Errorf("stream %d: no first message: %v", n, err)
		return err
	}
	if s.hello = request.GetHello(); s.hello == nil {
		r.t.Errorf("stream %d: the first message is no hello: %v", n, request)
	}
	return r.scripts[n-1](s)
}

// serve starts a referee on a Unix socket and returns a client for it.
func serve(t *testing.T, scripts ...func(*serverStream) error) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "referee")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	r := serveOn(t, listener, nil, scripts...)
	t.Cleanup(func() {
		if n := int(r.streams.Load()); n < len(scripts) {
			t.Errorf("%d streams were opened, %d were expected", n, len(scripts))
		}
	})
	return &Client{
		Address: "unix:" + path,
		Token:   "secret",
		Seed:    "1",
		Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func serveOn(
	t *testing.T, listener net.Listener, options []grpc.ServerOption, scripts ...func(*serverStream) error,
) *scriptedReferee {
	t.Helper()
	r := &scriptedReferee{t: t, scripts: scripts}
	server := grpc.NewServer(append(options, grpc.WaitForHandlers(true))...)
	asarav1.RegisterPlayServiceServer(server, r)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return r
}

func (s *serverStream) send(message proto.Message) {
	response := &asarav1.PlayResponse{}
	switch m := message.(type) {
	case *asarav1.Welcome:
		response.Response = &asarav1.PlayResponse_Welcome{Welcome: m}
	case *asarav1.DealCommitted:
		response.Response = &asarav1.PlayResponse_DealCommitted{DealCommitted: m}
	case *asarav1.MatchStarted:
		response.Response = &asarav1.PlayResponse_MatchStarted{MatchStarted: m}
	case *asarav1.Update:
		response.Response = &asarav1.PlayResponse_Update{Update: m}
	case *asarav1.Decision:
		response.Response = &asarav1.PlayResponse_Decision{Decision: m}
	case *asarav1.Rejection:
		response.Response = &asarav1.PlayResponse_Rejection{Rejection: m}
	case *asarav1.MatchEnded:
		response.Response = &asarav1.PlayResponse_MatchEnded{MatchEnded: m}
	case *asarav1.Goodbye:
		response.Response = &asarav1.PlayResponse_Goodbye{Goodbye: m}
	}
	if err := s.call.Send(response); err != nil {
		s.t.Errorf("sending %T: %v", message, err)
	}
}

func (s *serverStream) welcome() {
	s.send(&asarav1.Welcome{
		ProtocolVersion: 1, Entry: "tester", Limits: &asarav1.Limits{Matches: 7},
	})
}

// welcomeTo also starts matches of two seats; the bot has seat 1.
func (s *serverStream) welcomeTo(matches ...string) {
	s.welcome()
	for _, match := range matches {
		s.send(&asarav1.MatchStarted{MatchId: match, Seat: 1, Seats: 2, Sequence: 3})
	}
}

// expectReply waits for the reply to a decision.
func (s *serverStream) expectReply(match string, decision int64, actions ...*asarav1.Action) {
	s.t.Helper()
	want := &asarav1.Reply{MatchId: match, DecisionId: decision, Actions: actions}
	request, err := s.call.Recv()
	if err != nil {
		s.t.Errorf("waiting for %v: %v", want, err)
	} else if !proto.Equal(request.GetReply(), want) {
		s.t.Errorf("reply is %v, want %v", request, want)
	}
}

func (s *serverStream) goodbye() error {
	s.send(&asarav1.Goodbye{Reason: "all matches are over"})
	return nil
}

// broken ends a stream in a way that the client should reconnect after.
func (s *serverStream) broken() error { return status.Error(codes.Unavailable, "stopping") }

func refuse(code codes.Code, reason, detail string) func(*serverStream) error {
	return func(s *serverStream) error {
		s.call.SetTrailer(metadata.Pairs("asara-reason", reason))
		return status.Error(code, detail)
	}
}

func build(count int32) *asarav1.Action {
	return &asarav1.Action{Action: &asarav1.Action_BuildCount{
		BuildCount: &asarav1.BuildCount{Count: count},
	}}
}

// buildDecision asks for 1, 2 or 3 sections to build, after one more event.
func buildDecision(match string, decision, sequence int64) *asarav1.Decision {
	return &asarav1.Decision{
		MatchId:      match,
		DecisionId:   decision,
		Kind:         asarav1.DecisionKind_DECISION_KIND_BUILD_COUNT,
		LegalActions: []*asarav1.Action{build(1), build(2), build(3)},
		ClockUs:      60_000_000,
		Events:       []*asarav1.Event{asariEvent(sequence)},
		Sequence:     sequence,
	}
}

// asariEvent returns an event that is identified by its amount.
func asariEvent(asari int64) *asarav1.Event { return &asarav1.Event{Asari: int32(asari)} }

func last(decision *asarav1.Decision) []*asarav1.Action {
	legal := decision.GetLegalActions()
	return legal[len(legal)-1:]
}
