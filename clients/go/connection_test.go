package asara

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"

	"asara/asarav1"
)

func TestAnAnswerThatIsLostInABreakIsSentAgain(t *testing.T) {
	player := &recorder{t: t}
	client := serve(t,
		func(s *serverStream) error {
			if len(s.hello.GetLastEvents()) > 0 {
				t.Errorf("the first hello names events: %v", s.hello)
			}
			s.welcomeTo("m", "over")
			s.send(&asarav1.MatchEnded{MatchId: "over", Sequence: 9})
			s.send(buildDecision("m", 1, 4))
			s.expectReply("m", 1, build(3))
			return s.broken()
		},
		func(s *serverStream) error {
			want := []*asarav1.LastEvent{{MatchId: "m", Sequence: 4}}
			if got := s.hello.GetLastEvents(); len(got) != 1 || !proto.Equal(got[0], want[0]) {
				t.Errorf("last events are %v, want %v", got, want)
			}
			s.welcome()
			s.send(&asarav1.MatchStarted{MatchId: "m", Seat: 1, Seats: 2, Sequence: 4, Resumed: true})
			s.send(buildDecision("m", 1, 4))
			s.expectReply("m", 1, build(3))
			s.send(buildDecision("m", 2, 5))
			s.expectReply("m", 2, build(3))
			return s.goodbye()
		})
	client.MaxMatches = 2
	client.NewPlayer = func(m *Match) Player {
		if m.ID == "over" {
			return &recorder{t: t}
		}
		return player
	}
	runToGoodbye(t, client)
	player.expect("started", "updated", "asked", "resumed", "updated", "asked")
	player.expectEvents(4, 5)
}

func TestADecisionOutlivesTheStream(t *testing.T) {
	broken := make(chan struct{})
	asked := make(chan struct{})
	player := &recorder{t: t, decide: func(
		ctx context.Context, d *asarav1.Decision,
	) []*asarav1.Action {
		close(asked)
		<-broken
		if ctx.Err() != nil {
			t.Errorf("the break ended the decision: %v", ctx.Err())
		}
		return last(d)
	}}
	client := serve(t,
		func(s *serverStream) error {
			s.welcomeTo("m")
			s.send(buildDecision("m", 1, 4))
			<-asked
			return s.broken()
		},
		func(s *serverStream) error {
			s.welcome()
			s.send(&asarav1.MatchStarted{MatchId: "m", Seat: 1, Seats: 2, Sequence: 4, Resumed: true})
			s.send(buildDecision("m", 1, 4))
			close(broken)
			s.expectReply("m", 1, build(3))
			s.send(&asarav1.MatchEnded{MatchId: "m", Sequence: 4})
			return s.goodbye()
		})
	client.NewPlayer = func(*Match) Player { return player }
	runToGoodbye(t, client)
	player.expect("started", "updated", "asked", "resumed", "ended")
}

func TestEventsMissedInABreakArePassedOnce(t *testing.T) {
	player := &recorder{t: t}
	client := serve(t,
		func(s *serverStream) error {
			s.welcomeTo("m")
			s.send(buildDecision("m", 1, 4))
			s.expectReply("m", 1, build(3))
			return s.broken()
		},
		func(s *serverStream) error {
			s.welcome()
			missed := []*asarav1.Event{asariEvent(4), asariEvent(5), asariEvent(6)}
			s.send(&asarav1.Update{MatchId: "m", Events: missed, Sequence: 6})
			s.send(&asarav1.MatchStarted{MatchId: "m", Seat: 1, Seats: 2, Sequence: 6, Resumed: true})
			s.send(buildDecision("m", 2, 7))
			s.expectReply("m", 2, build(3))
			return s.goodbye()
		})
	client.NewPlayer = func(*Match) Player { return player }
	runToGoodbye(t, client)
	player.expect("started", "updated", "asked", "updated", "resumed", "updated", "asked")
	player.expectEvents(4, 5, 6, 7)
}

func TestRepeatedEventsArePassedOnce(t *testing.T) {
	player := &recorder{t: t}
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		events := []*asarav1.Event{asariEvent(4), asariEvent(5), asariEvent(6), asariEvent(7)}
		s.send(&asarav1.Update{MatchId: "m", Events: events[:3], Sequence: 6})
		s.send(&asarav1.Update{MatchId: "m", Events: events[:2], Sequence: 5})
		s.send(&asarav1.Update{MatchId: "m", Events: events[2:], Sequence: 7})
		s.send(buildDecision("m", 1, 8))
		s.expectReply("m", 1, build(3))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player { return player }
	runToGoodbye(t, client)
	player.expectEvents(4, 5, 6, 7, 8)
}

func TestALateProcessJoinsARunningMatch(t *testing.T) {
	player := &recorder{t: t}
	client := serve(t, func(s *serverStream) error {
		s.welcome()
		s.send(&asarav1.MatchStarted{MatchId: "m", Seat: 1, Seats: 2, Sequence: 20, Resumed: true})
		s.send(buildDecision("m", 9, 21))
		s.expectReply("m", 9, build(3))
		return s.goodbye()
	})
	client.NewPlayer = func(*Match) Player { return player }
	runToGoodbye(t, client)
	player.expect("resumed", "updated", "asked")
	player.expectEvents(21)
}

func TestAStreamThatEndsWithoutGoodbyeIsABreak(t *testing.T) {
	client := serve(t,
		func(s *serverStream) error { s.welcome(); return nil },
		func(s *serverStream) error { s.welcome(); return s.goodbye() })
	client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
	runToGoodbye(t, client)
}

func TestAnInternalErrorOfTheRefereeIsABreak(t *testing.T) {
	client := serve(t,
		refuse(codes.Internal, "referee", "oops"),
		func(s *serverStream) error { s.welcome(); return s.goodbye() })
	client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
	runToGoodbye(t, client)
}

func TestARefusalForTheMomentIsRetried(t *testing.T) {
	crowded := refuse(codes.ResourceExhausted, "too-many-streams", "try again later")
	client := serve(t, crowded, crowded,
		func(s *serverStream) error { s.welcome(); return s.goodbye() })
	client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
	runToGoodbye(t, client)
}

func TestRefusalsAreFinalAndExplained(t *testing.T) {
	for _, refused := range []struct {
		code   codes.Code
		reason string
		advice string
	}{
		{codes.Unauthenticated, "unknown-token", "ASARA_TOKEN"},
		{codes.OutOfRange, "another", "refused this bot"},
		{codes.FailedPrecondition, "protocol-version", "client library"},
		{codes.InvalidArgument, "hello-first", "client library"},
		{codes.Aborted, "replaced", "its own token"},
		{codes.ResourceExhausted, "request-rate", "limits in proto/README.md"},
		{codes.Unimplemented, "nothing", "ASARA_ADDRESS"},
	} {
		t.Run(refused.code.String(), func(t *testing.T) {
			client := serve(t, refuse(refused.code, refused.reason, "in other words"))
			client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
			err := run(t, client)
			var got *RefusedError
			if !errors.As(err, &got) || got.Code != refused.code || got.Reason != refused.reason {
				t.Fatalf("Run returned %#v", err)
			}
			for _, word := range []string{
				"refused this bot (" + refused.reason + "): in other words", refused.advice,
			} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not contain %q", err, word)
				}
			}
		})
	}
}

func TestARefereeOfAnotherVersionIsRefused(t *testing.T) {
	client := serve(t, func(s *serverStream) error {
		s.send(&asarav1.Welcome{ProtocolVersion: 2})
		<-s.call.Context().Done()
		return nil
	})
	client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
	var refused *RefusedError
	if err := run(t, client); !errors.As(err, &refused) || refused.Reason != "protocol-version" {
		t.Errorf("Run returned %v", err)
	}
}

func TestAReplacedBotStopsDeciding(t *testing.T) {
	asked := make(chan struct{})
	client := serve(t, func(s *serverStream) error {
		s.welcomeTo("m")
		s.send(buildDecision("m", 1, 4))
		<-asked
		return refuse(codes.Aborted, "replaced", "")(s)
	})
	client.NewPlayer = func(*Match) Player {
		return DecideFunc(func(ctx context.Context, d *asarav1.Decision) []*asarav1.Action {
			close(asked)
			<-ctx.Done()
			return nil
		})
	}
	var refused *RefusedError
	if err := run(t, client); !errors.As(err, &refused) {
		t.Errorf("Run returned %v", err)
	}
}

func TestNoReferee(t *testing.T) {
	client := serve(t)
	client.Address = "unix:" + filepath.Join(t.TempDir(), "none")
	client.Patience = time.Millisecond
	client.NewPlayer = func(*Match) Player { return &recorder{t: t} }
	err := run(t, client)
	if err == nil || !strings.Contains(err.Error(), "no referee at unix:") {
		t.Errorf("Run returned %v", err)
	}
}

func TestTheEnvironmentNamesARefereeWithTLS(t *testing.T) {
	directory := t.TempDir()
	certificate := selfSigned(t, filepath.Join(directory, "ca.pem"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tlsOption := grpc.Creds(credentials.NewServerTLSFromCert(&certificate))
	serveOn(t, listener, []grpc.ServerOption{tlsOption}, func(s *serverStream) error {
		if s.hello.GetToken() != "from the environment" || s.hello.GetMaxMatches() != 1 {
			t.Errorf("hello is %v", s.hello)
		}
		s.welcome()
		return s.goodbye()
	})
	t.Setenv("ASARA_ADDRESS", listener.Addr().String())
	t.Setenv("ASARA_TOKEN", "from the environment")
	t.Setenv("ASARA_CA", filepath.Join(directory, "ca.pem"))
	if err := Run(func(*Match) Player { return nil }); err != nil {
		t.Error(err)
	}
}

// selfSigned makes a certificate for 127.0.0.1 and writes it to path.
func selfSigned(t *testing.T, path string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestTLSAtOneEndOnlyIsToldInOneLine(t *testing.T) {
	authority := filepath.Join(t.TempDir(), "ca.pem")
	certificate := selfSigned(t, authority)
	for _, test := range []struct{ server, ca, want string }{
		{"tls", "", "uses TLS, and ASARA_CA is not set"},
		{"plain", authority, "uses no TLS, and ASARA_CA is set"},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var options []grpc.ServerOption
		if test.server == "tls" {
			options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(&certificate)))
		}
		serveOn(t, listener, options, func(s *serverStream) error {
			t.Error("a stream began")
			return nil
		})
		client := &Client{
			NewPlayer: func(*Match) Player { return nil },
			Address:   listener.Addr().String(), Token: "secret", CA: test.ca,
		}
		if err := client.Run(context.Background()); err == nil ||
			!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Run returned %v", test.server, err)
		}
	}
}
