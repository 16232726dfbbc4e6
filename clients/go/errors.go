package asara

import (
	"cmp"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// RefusedError says that the referee does not want this bot, or not any more. Dialling again would
// not help.
type RefusedError struct {
	// Address of the referee.
	Address string
	// Code is the status that ended the stream.
	Code codes.Code
	// Reason is the referee's own word for it, such as unknown-token; empty where it gave none.
	Reason string
	// Detail is what the referee said.
	Detail string
}

// Error says what was wrong and what to do.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("asara: the referee at %s ended the stream: %s",
		e.Address, cmp.Or(advice[e.Code], "it does not want this bot"))
	switch {
	case e.Reason != "" && e.Detail != "":
		text += fmt.Sprintf(" (%s: %s)", e.Reason, e.Detail)
	case e.Reason != "" || e.Detail != "":
		text += fmt.Sprintf(" (%s)", e.Reason+e.Detail)
	}
	return text
}

var advice = map[codes.Code]string{
	codes.Unauthenticated: "it does not know this token; start me through `asara match`, " +
		"or set ASARA_TOKEN to the token that you were given",
	codes.FailedPrecondition: "it does not speak this version of the protocol; " +
		"build the bot with the client that comes with the referee",
	codes.InvalidArgument: "it did not understand a message; " +
		"build the bot with the client that comes with the referee",
	codes.Aborted: "another process dialled in with the same token; " +
		"every process needs a token of its own",
	codes.ResourceExhausted: "the bot broke a limit of the referee",
	codes.Unimplemented:     "no ASARA referee listens there; check ASARA_ADDRESS",
}

// refusal turns the status that ended a stream into a RefusedError, except where the stream merely
// broke and dialling again may help.
func refusal(address string, trailer metadata.MD, err error) error {
	s := status.Convert(err)
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Internal, codes.Unavailable, codes.Unknown:
		return err
	}
	refused := &RefusedError{Address: address, Code: s.Code(), Detail: s.Message()}
	if reasons := trailer.Get("asara-reason"); len(reasons) > 0 {
		refused.Reason = reasons[0]
	}
	return refused
}

// otherVersion is the refusal of a referee that welcomes the bot in a version it does not speak.
func otherVersion(address string, version int32) error {
	return &RefusedError{
		Address: address,
		Code:    codes.FailedPrecondition,
		Reason:  "protocol-version",
		Detail:  fmt.Sprintf("the referee speaks version %d, this client %d", version, protocolVersion),
	}
}
