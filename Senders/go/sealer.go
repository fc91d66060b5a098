// Package pushcrypt seals Apple push notifications end to end: the server encrypts, and the app on the user's device decrypts. It is
// the sender's side of version 1 of the protocol (docs/protocol.md of the repository).
package pushcrypt

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const maxLimit, idSize = 4_096, 16 // bytes of the outer payload, and of a message id

var (
	topicForm = regexp.MustCompile(`^[A-Za-z0-9.-]{1,155}$`)
	// nameForm is that of device ids, exposed members, and the ids of attachments and challenges.
	nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// Sealer seals the pushes to one app (PROTOCOL sections 1 to 5). Any goroutine may use it.
type Sealer struct {
	// Now is the clock, [time.Now] by default. Set it before the first push.
	Now    func() time.Time
	topic  string
	signer Signer
}

// NewSealer returns a sealer for an app that pins the keys of the signer. The topic is the app's bundle identifier, 1 to 155
// characters of A-Z a-z 0-9 . -. Errors: invalidTopic, wrongKind without a signer or for one with keys of another kind.
func NewSealer(topic string, signer Signer) (sealer *Sealer, err error) {
	defer catch(&err, "invalidTopic", "the topic")
	require(signer != nil, "wrongKind", "there is no signer: use NewUnsignedSealer for an app that pins no sender")
	_, failure := signer.SenderKeyAt(time.Now())
	if refused, isRefusal := failure.(*Error); isRefusal && refused.Code == "wrongKind" { // others may pass, such as noKeySeals
		return nil, refused
	}
	sealer = must(NewUnsignedSealer(topic))
	sealer.signer = signer
	return sealer, nil
}

// NewUnsignedSealer returns a sealer for an app that accepts unsigned pushes. Errors: invalidTopic.
func NewUnsignedSealer(topic string) (sealer *Sealer, err error) {
	defer catch(&err, "invalidTopic", "the topic")
	require(topicForm.MatchString(topic), "", "it isn't 1 to 155 characters of A-Z, a-z, 0-9, . and -")
	return &Sealer{Now: time.Now, topic: topic}, nil
}

// bind returns what a message at a time is bound to.
func (s *Sealer) bind(to *Recipient, now time.Time, isChallenge bool) (bound binding, err error) {
	bound = binding{to.key(), nil, s.topic, isChallenge}
	if s.signer == nil {
		return bound, nil
	}
	signer, err := s.signer.SenderKeyAt(now)
	if err == nil {
		bound.signer = signer.key()
	}
	return bound, err
}

// Seal encrypts a payload: the bytes or the text of a JSON object with aps, which stay byte for byte, or a value that encoding/json
// writes. The device shows the placeholder if it can't open the push.
//
// Errors: invalidPayload, invalidPlaceholder, invalidOption, notExposable, notAuthenticated, suiteTooLow, deviceMissing, tooLarge
// with BytesNeeded and BytesAvailable, offloadFailed, expiresTooLate, noDayKey, those of a day key as in [ReadRegistration], and those of
// the signer, such as noKeySeals.
func (s *Sealer) Seal(payload any, to *Recipient, placeholder Placeholder, options Options) (push *SealedPush, err error) {
	now := s.Now()
	bound, err := s.bind(to, now, false)
	if err != nil {
		return nil, err
	}
	defer catch(&err, "invalidOption", "the options")
	bound.to = must(to.keyAt(now.Unix(), options.RequiresDayKey))
	options = options.check(bound, to.LongestLifetime())
	inner := must(readPayload(payload))
	setsBadge := inner.aps.has("badge") || options.Offloaded != nil && options.Offloaded.setsBadge
	require(options.Badge == nil || !setsBadge, "invalidPayload", "the payload sets the badge, and an option adds to it")
	made := sealing{bound, options, options.header(to.key(), now), placeholder.alert()}
	return made.push(inner), nil
}

// sealing is one push whose options were checked.
type sealing struct {
	binding
	Options
	header header
	alert  []byte
}

func (s *sealing) push(inner payload) *SealedPush {
	head, tail := s.frame(inner)
	message := inner.message(write(&s.header))
	// A message may have ⌊3 (l − f) / 4⌋ − header − 16 − (64 if signed) bytes. A shift rounds towards minus infinity.
	capacity := 3*(s.Limit-len(head)-len(tail))>>2 - s.overhead()
	if len(message) > capacity {
		needed := len(head) + len(tail) + (4*(len(message)+s.overhead())+2)/3
		reason := fmt.Sprintf("the sealed payload takes %d bytes, and the limit is %d", needed, s.Limit)
		return s.offloaded(inner, &Error{Code: "tooLarge", Reason: reason, BytesNeeded: needed, BytesAvailable: s.Limit})
	}
	padding := min(capacity, (len(message)+s.Padding-1)/s.Padding*s.Padding) - len(message)
	sealed := s.seal(append(message, spaces[:padding]...))
	body := slices.Grow(head, base64.RawURLEncoding.EncodedLen(len(sealed))+len(tail))
	return &SealedPush{
		Body: append(base64.RawURLEncoding.AppendEncode(body, sealed), tail...), ID: s.header.ID, Topic: s.topic, Carrier: s.Carrier,
		SealedAt: time.Unix(s.header.IssuedAt, 0), ExpiresAt: time.Unix(s.header.ExpiresAt, 0), isQuiet: s.IsQuiet, collapseID: s.CollapseID,
		UsesLastResortKey: s.to.set != nil,
	}
}

// frame returns the outer payload before and behind the characters of sealed.
func (s *sealing) frame(inner payload) (head, tail []byte) {
	s.Carrier.check(s.alert, s.Exposed, inner.aps)
	start, end := `{"v":1,"kid":"`+s.to.kid+`","sealed":"`, `"}`
	if s.signer != nil {
		end = `","skid":"` + s.signer.kid + `"}`
	}
	start, end = s.Carrier.place(start, end)
	members := s.exposed(inner.aps)
	return join([]byte(`{"aps":{"alert":`), s.alert, []byte(`,"mutable-content":1`), members, []byte("},"+start)), []byte(end + "}")
}

// SealedPush is a sealed payload, and what a request says beside it.
type SealedPush struct {
	// Body is the payload as the device receives it: with the carriers APNs and Rebuilt, the body of the request to APNs.
	Body []byte
	// ID is for logs, and to retract the push: base64url of 16 bytes.
	ID string
	// SealedAt and ExpiresAt are to the second.
	SealedAt, ExpiresAt time.Time
	Topic               string
	Carrier             Carrier
	// IsOffloaded says that the payload was sealed as a blob, which [Options] Offload keeps.
	IsOffloaded bool
	// UsesLastResortKey says that the device has day keys and none for this day. Count these pushes: its app hasn't run for long.
	UsesLastResortKey bool
	isQuiet           bool
	collapseID        string
}

// Headers returns the headers of the request to APNs. Add authorization.
func (p *SealedPush) Headers() map[string]string {
	expiration, priority := strconv.FormatInt(p.ExpiresAt.Unix(), 10), map[bool]string{false: "10", true: "5"}[p.isQuiet]
	headers := map[string]string{"apns-push-type": "alert", "apns-topic": p.Topic, "apns-expiration": expiration, "apns-priority": priority}
	if p.collapseID != "" {
		headers["apns-collapse-id"] = p.collapseID
	}
	return headers
}
