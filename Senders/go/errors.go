package pushcrypt

import "fmt"

// Error says why something was refused. Neither its text nor a fact contains a secret or a part of a payload.
//
// The codes are those of the protocol and of the other senders, such as invalidPayload and tooLarge, and backendFailure if the
// cryptography of the platform failed. More may be added, so handle unknown ones.
type Error struct {
	// Code is the kind of failure, for programs.
	Code string
	// Reason says what is wrong, where, and what to do, for people.
	Reason string
	// BytesNeeded and BytesAvailable are, with tooLarge of a push, the length of the outer payload without padding and the limit.
	BytesNeeded, BytesAvailable int
	// Row is, with the refusal of a keyset's file, the row at fault, counted from 1; 0 is the whole file.
	Row   int
	cause error
}

// Error returns the code and the reason.
func (e *Error) Error() string { return e.Code + ": " + e.Reason }

// Unwrap returns the error of the operating system or of a callback, if it is the cause.
func (e *Error) Unwrap() error { return e.cause }

// require refuses unless a condition holds: it panics, as the parsers of the standard library do, and the exported function returns
// what catch finds. With an empty code, the reader that catches the refusal gives one.
func require(holds bool, code, format string, facts ...any) {
	if !holds {
		panic(&Error{Code: code, Reason: fmt.Sprintf(format, facts...)})
	}
}

// catch is deferred. It stores what was refused in err; a refusal without a code gets one, and the name of what is read.
func catch(err *error, code, what string) {
	switch found := recover().(type) {
	case nil:
	case *Error:
		if found.Code == "" {
			found.Code, found.Reason = code, what+": "+found.Reason
		}
		*err = found
	default:
		panic(found)
	}
}

// must returns the result of a call that fails only if the platform's cryptography does, or with a refusal of this package.
func must[T any](value T, err error) T {
	if err == nil {
		return value
	}
	if refused, isRefusal := err.(*Error); isRefusal {
		panic(refused)
	}
	panic(&Error{Code: "backendFailure", Reason: "the cryptography of the platform failed", cause: err})
}
