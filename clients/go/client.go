package asara

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// Run plays all matches that the referee assigns to this process, each with its own player from
// newPlayer, and returns nil when the referee sends Goodbye. Settings come from the environment
// (see [Client]).
//
// The last line of a bot's program is Exit(Run(newPlayer)).
func Run(newPlayer func(*Match) Player) error {
	client := Client{NewPlayer: newPlayer}
	return client.Run(context.Background())
}

// Exit ends the process: with status 0 if err is nil, or else with one line on standard error and
// status 2 for a [*ConfigurationError], 1 for any other error.
func Exit(err error) {
	var configuration *ConfigurationError
	switch {
	case err == nil:
		os.Exit(0)
	case errors.As(err, &configuration):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Client is a bot with its settings. Fields that are zero come from the environment or have a
// default.
type Client struct {
	// NewPlayer returns the player of a new match. It is called concurrently if MaxMatches is
	// above 1.
	NewPlayer func(*Match) Player

	// Address of the referee, host:port or unix:/path. Default: ASARA_ADDRESS.
	Address string
	// Token is the secret that identifies the bot to the referee. Default: ASARA_TOKEN.
	Token string
	// Seat is the expected seat, if the process plays a single match. Default: ASARA_SEAT.
	Seat *int
	// Seed of [Match.Rand] and of nonces. Default: ASARA_SEED; without one every run differs.
	Seed string
	// CA is the path of the certificate (PEM) of the authority that signed the referee's. Default:
	// ASARA_CA; without one there is no TLS.
	CA string
	// TLS enables TLS with this configuration, to which CA is added. An empty tls.Config trusts the
	// system's certificates. Default: TLS if there is a CA.
	TLS *tls.Config

	// Transcript is a folder for transcripts, one file per match with all messages received.
	// Default: ASARA_TRANSCRIPT; without one there are no transcripts.
	Transcript string

	// BotName is name and version of the program, for the referee's logs; truncated to 64 bytes.
	// Default: the name of the executable.
	BotName string
	// MaxMatches is the maximum number of matches played at once. Default: 1.
	MaxMatches int
	// LiveUpdates requests events after every turn instead of with the next decision.
	LiveUpdates bool
	// OmitPublicView omits the public view from decisions, for bots that follow the events.
	OmitPublicView bool

	// Patience is how long to try to reach the referee. Default: ASARA_PATIENCE_S, or 30 seconds.
	Patience time.Duration
	// Log receives warnings and errors. Default: slog.Default(), which writes to standard error.
	Log *slog.Logger

	nonceSeed string // Seed, or empty if neither the author nor the environment set one
}

// Run is [Run] with these settings, until ctx is done.
//
// It reconnects whenever the stream breaks. It returns a [*ConfigurationError] if a setting is
// missing or invalid, a [*RefusedError] if a new connection would not help, and a
// [*ConnectionLostError] if no referee was reached for c.Patience.
func (c *Client) Run(ctx context.Context) error {
	s, err := newSession(*c)
	if err != nil {
		return err
	}
	return s.run(ctx)
}
