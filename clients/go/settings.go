package asara

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	nameBytes       = 64 // of Hello.bot_name and Hello.language
	defaultPatience = 30 * time.Second
)

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// complete sets the fields that are zero from the environment.
func (c *Client) complete() error {
	if c.NewPlayer == nil {
		return misconfigured("NewPlayer is not set: expected a function that returns a player")
	}
	c.Address = cmp.Or(c.Address, os.Getenv("ASARA_ADDRESS"))
	c.Token = cmp.Or(c.Token, os.Getenv("ASARA_TOKEN"))
	c.Seed = cmp.Or(c.Seed, os.Getenv("ASARA_SEED"))
	c.CA = cmp.Or(c.CA, os.Getenv("ASARA_CA"))
	c.Transcript = cmp.Or(c.Transcript, os.Getenv("ASARA_TRANSCRIPT"))
	if missing := c.missing(); missing != "" {
		return misconfigured("%s not set: start this bot with `asara match`, "+
			"or set ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN", missing)
	}
	if err := checkAddress(c.Address); err != nil {
		return err
	}
	if c.MaxMatches < 0 {
		return misconfigured("MaxMatches is %d: expected 1 or more", c.MaxMatches)
	}
	if err := c.completeSeatAndPatience(); err != nil {
		return err
	}
	if c.Transcript != "" && os.Getenv("ASARA_CONTAINED") != "" {
		return misconfigured("a transcript is asked for, but the sandbox of this bot is deleted " +
			"with everything in it; play with --sandbox none, or without the transcript")
	}
	if c.Transcript != "" {
		if err := os.MkdirAll(c.Transcript, 0o777); err != nil {
			return misconfigured("ASARA_TRANSCRIPT: cannot create the folder %q (%v); "+
				"choose a writable one", c.Transcript, withoutPath(err))
		}
	}
	c.nonceSeed = c.Seed
	if c.Seed == "" {
		var seed [16]byte
		if _, err := rand.Read(seed[:]); err != nil {
			return fmt.Errorf("asara: cannot generate a seed: %w", err)
		}
		c.Seed = hex.EncodeToString(seed[:])
	}
	c.BotName = shorten(cmp.Or(c.BotName, filepath.Base(os.Args[0])), nameBytes)
	c.MaxMatches = cmp.Or(c.MaxMatches, 1)
	c.Log = cmp.Or(c.Log, slog.Default())
	return nil
}

func (c *Client) completeSeatAndPatience() error {
	if text := os.Getenv("ASARA_SEAT"); c.Seat == nil && text != "" {
		seat, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return misconfigured("ASARA_SEAT is %q: expected a seat number", text)
		}
		c.Seat = new(int)
		*c.Seat = int(seat)
	}
	if c.Patience < 0 {
		return misconfigured("Patience is %s: expected 0 or more", c.Patience)
	}
	if text := os.Getenv("ASARA_PATIENCE_S"); c.Patience == 0 && text != "" {
		if !decimal.MatchString(text) {
			return misconfigured("ASARA_PATIENCE_S is %q: expected seconds, such as 30 or 0.5", text)
		}
		seconds, _ := strconv.ParseFloat(text, 64)
		// At least 1 ns, because 0 is the default; and no overflow.
		c.Patience = time.Duration(min(max(seconds*1e9, 1), math.MaxInt64/2))
	}
	c.Patience = cmp.Or(c.Patience, defaultPatience)
	return nil
}

// missing names the variables that are needed and not set, with their verb.
func (c *Client) missing() string {
	switch {
	case c.Address == "" && c.Token == "":
		return "ASARA_ADDRESS and ASARA_TOKEN are"
	case c.Address == "":
		return "ASARA_ADDRESS is"
	case c.Token == "":
		return "ASARA_TOKEN is"
	}
	return ""
}

func checkAddress(address string) error {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if isUnix && path != "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if isUnix || err != nil || host == "" || port == "" {
		return misconfigured("ASARA_ADDRESS is %q: expected host:port or unix:/path", address)
	}
	return nil
}

// credentials returns TLS credentials if a CA or a TLS configuration is set.
func (c *Client) credentials() (credentials.TransportCredentials, error) {
	if c.CA == "" && c.TLS == nil {
		return insecure.NewCredentials(), nil
	}
	config := c.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, misconfigured("ASARA_CA: cannot read %q (%v); expected the certificate "+
				"of the authority that signed the referee's certificate", c.CA, withoutPath(err))
		}
		if config.RootCAs == nil {
			config.RootCAs = x509.NewCertPool()
		} else {
			config.RootCAs = config.RootCAs.Clone()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, misconfigured("ASARA_CA: %q contains no PEM certificate", c.CA)
		}
	}
	return credentials.NewTLS(config), nil
}

func language() string { return shorten("Go "+strings.TrimPrefix(runtime.Version(), "go"), nameBytes) }

// shorten truncates text to at most limit bytes, at the end of a character.
func shorten(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit]
	}
	return strings.ToValidUTF8(text, "")
}
