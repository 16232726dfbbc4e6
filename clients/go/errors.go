package asara

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"runtime"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// ConfigurationError means that a setting is missing or invalid.
type ConfigurationError struct{ text string }

// Error names the setting and its remedy in one line.
func (e *ConfigurationError) Error() string { return "asara: " + e.text }

func misconfigured(format string, arguments ...any) error {
	return &ConfigurationError{fmt.Sprintf(format, arguments...)}
}

// ConnectionLostError means that no referee could be reached for longer than [Client.Patience].
type ConnectionLostError struct {
	// Address of the referee.
	Address string
	// Patience is how long the client tried.
	Patience time.Duration
	// Cause is why the last attempt failed.
	Cause error
}

// Error describes the last attempt in one line.
func (e *ConnectionLostError) Error() string {
	return fmt.Sprintf("asara: no referee at %s for %g s: %s",
		e.Address, e.Patience.Seconds(), oneLine(detail(e.Cause)))
}

// Unwrap returns why the last attempt failed.
func (e *ConnectionLostError) Unwrap() error { return e.Cause }

// detail returns the text of a status without its code, or else the error's own.
func detail(err error) string {
	if s, ok := status.FromError(err); ok && s.Message() != "" {
		return s.Message()
	}
	return err.Error()
}

func oneLine(text string) string {
	return cmp.Or(strings.Join(strings.Fields(text), " "), "no details")
}

// RefusedError means that the referee ended the stream for a reason that a new connection would not
// change.
type RefusedError struct {
	// Address of the referee.
	Address string
	// Code is the gRPC status of the stream.
	Code codes.Code
	// Reason is the referee's asara-reason, such as unknown-token, or empty if it sent none.
	Reason string
	// Detail is the text of the status.
	Detail string
}

// Error describes the refusal and its remedy in one line.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("asara: the referee at %s refused this bot (%s): %s",
		e.Address, cmp.Or(e.Reason, codeName(e.Code)), oneLine(e.Detail))
	if advice[e.Code] != "" {
		text += "; " + advice[e.Code]
	}
	return text
}

// tooManyStreams is the reason of a refusal after which a new stream may be accepted a little later.
const tooManyStreams = "too-many-streams"

const clientLibrary = "use the client library that comes with the referee"

var advice = map[codes.Code]string{
	codes.Unauthenticated: "set ASARA_TOKEN to what `asara match` printed last, " +
		"or what the organiser gave you",
	codes.FailedPrecondition: clientLibrary,
	codes.InvalidArgument:    clientLibrary,
	codes.Aborted:            "each process needs its own token",
	codes.ResourceExhausted:  "see the limits in proto/README.md",
	codes.Unimplemented:      "no ASARA referee listens there; check ASARA_ADDRESS",
}

// codeName returns the name of a status as the protocol writes it, such as UNAUTHENTICATED.
func codeName(code codes.Code) string {
	name := []rune(code.String())
	var out strings.Builder
	for i, letter := range name {
		if i > 0 && unicode.IsUpper(letter) && unicode.IsLower(name[i-1]) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToUpper(letter))
	}
	return out.String()
}

// breakReason returns a RefusedError for the status that ended a stream, or err itself if a new
// connection may help.
func breakReason(address string, trailer metadata.MD, err error) error {
	s := status.Convert(err)
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Internal, codes.Unavailable, codes.Unknown:
		return err
	}
	refused := &RefusedError{Address: address, Code: s.Code(), Detail: s.Message()}
	if reasons := trailer.Get("asara-reason"); len(reasons) > 0 {
		refused.Reason = reasons[0]
	}
	if refused.Reason == tooManyStreams {
		return err
	}
	return refused
}

// otherVersion is the error for a referee that uses another version of the protocol.
func otherVersion(address string, version int32) error {
	return &RefusedError{
		Address: address,
		Code:    codes.FailedPrecondition,
		Reason:  "protocol-version",
		Detail: fmt.Sprintf("the referee uses protocol version %d, this client version %d",
			version, protocolVersion),
	}
}

// decidePlace returns file and line of the player's Decide, for messages to its author.
func decidePlace(player Player) string {
	decide := reflect.ValueOf(player)
	if method, ok := decide.Type().MethodByName("Decide"); ok && decide.Kind() != reflect.Func {
		decide = method.Func
	}
	if decide.Kind() != reflect.Func {
		return ""
	}
	function := runtime.FuncForPC(decide.Pointer())
	if function == nil {
		return ""
	}
	file, line := function.FileLine(decide.Pointer())
	return fmt.Sprintf("%s:%d", file, line)
}

// withoutPath returns the cause of an error of the file system, for messages that name the path.
func withoutPath(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
