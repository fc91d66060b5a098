package pushcrypt

import (
	"math"
	"regexp"
	"slices"
	"time"
)

// Option changes how a push is sealed. Seal refuses a value out of its range.
type Option func(*settings)

type settings struct {
	limit, padding, minimumSuite int
	lifetime                     int64 // seconds
	carrier                      Carrier
	collapseID                   string
	campaign                     *string
	exposed                      []string
	isBare                       bool
	store                        func(*SealedBlob) (url string, err error)
	header                       header
}

const maxLifetime, unset = 2_592_000, math.MinInt // seconds; a limit

// Values for [WithPadding].
const PadToLimit, NoPadding = maxLimit, 1

// WithPadding hides the length: the message is padded to a multiple of this number of bytes, 128 by default, at most to the limit.
func WithPadding(multiple int) Option { return func(s *settings) { s.padding = multiple } }

// WithLimit sets the largest size of the whole push in bytes, at most 4,096. The default leaves free what the carrier adds.
func WithLimit(bytes int) Option { return func(s *settings) { s.limit = bytes } }

// WithLifetime sets the time until the message expires: 1 second to 30 days, which is the default.
func WithLifetime(length time.Duration) Option {
	return func(s *settings) { s.lifetime = int64(length / time.Second) }
}

// WithExposed names members of aps that stay readable on the way, such as badge.
func WithExposed(names ...string) Option { return func(s *settings) { s.exposed = names } }

// WithCarrier names the way to the device. The app must name it too.
func WithCarrier(way Carrier) Option { return func(s *settings) { s.carrier = way } }

// WithCollapseID sets apns-collapse-id, 1 to 64 characters of ASCII, by which a later push replaces this one. APNs can read it.
func WithCollapseID(id string) Option { return func(s *settings) { s.collapseID = id } }

// WithCampaign names this push, with 1 to 255 bytes. Sealed again for the same recipient, it has the same id and is shown once.
func WithCampaign(name string) Option { return func(s *settings) { s.campaign = &name } }

// WithMinimumSuite refuses a recipient whose suite ranks below it: 3 demands a key that resists quantum computers.
func WithMinimumSuite(suite int) Option { return func(s *settings) { s.minimumSuite = suite } }

// WithBareSharedKey allows a shared key that isn't the key of one device: everyone who has it can open the push.
func WithBareSharedKey() Option { return func(s *settings) { s.isBare = true } }

// WithOversizeOffload seals a payload that doesn't fit as a blob, and a push whose alert is the placeholder. The function keeps the
// blob, which you upload before you send the push, and returns its https address.
func WithOversizeOffload(store func(*SealedBlob) (url string, err error)) Option {
	return func(s *settings) { s.store = store }
}

// WithRetracted takes back earlier pushes, at most 16, by their ids.
func WithRetracted(ids ...string) Option { return func(s *settings) { s.header.Retract = ids } }

// WithQuiet asks the app to show nothing, if it may.
func WithQuiet() Option { return func(s *settings) { s.header.Quiet = true } }

// WithBadgeAdd changes the app's badge by a number of -999 to 999.
func WithBadgeAdd(number int) Option { return func(s *settings) { s.header.Badge = &badge{number} } }

// WithAttachments refers to sealed files, at most 8.
func WithAttachments(files ...Attachment) Option {
	return func(s *settings) { s.header.Attachments = files }
}

// WithOffload refers to a sealed payload, which is shown in place of the payload of this push.
func WithOffload(payload Reference) Option { return func(s *settings) { s.header.Offload = &payload } }

// WithSelfTest asks the app's extension for a receipt that it works.
func WithSelfTest() Option { return func(s *settings) { s.header.Test = true } }

var collapseForm = regexp.MustCompile(`^[ -~]{1,64}$`)

func newSettings(options []Option, bound binding) *settings {
	s := &settings{limit: unset, padding: 128, minimumSuite: 1, lifetime: maxLifetime, carrier: APNs}
	for _, option := range options {
		option(s)
	}
	if s.limit == unset {
		s.limit = maxLimit - s.carrier.way().reserved
	}
	require(1 <= s.limit && s.limit <= maxLimit, "", "the limit isn't 1 to 4,096 bytes")
	require(s.padding > 0, "", "the padding isn't positive")
	// No message is longer than the limit.
	s.padding = min(s.padding, PadToLimit)
	require(1 <= s.lifetime && s.lifetime <= maxLifetime, "", "the lifetime isn't 1 second to 30 days")
	require(1 <= s.minimumSuite && s.minimumSuite <= 4, "", "the minimum suite isn't 1 to 4")
	isCollapseID := s.collapseID == "" || s.carrier != Expo && collapseForm.MatchString(s.collapseID)
	require(isCollapseID, "", "the collapse id isn't 1 to 64 printable characters of ASCII, or Expo has no field for one")
	to := bound.to
	require(s.isBare || !to.isMaster(), "deviceMissing",
		"everyone who has the shared key %s could open the push: seal to Recipient.ForDevice, or give WithBareSharedKey", to.kid)
	require(rank(to.suite) >= rank(s.minimumSuite), "suiteTooLow", "key %s has suite %d, and %d is required", to.kid, to.suite, s.minimumSuite)
	require(bound.signer != nil || to.provesSender() || !s.header.instructs(), "notAuthenticated",
		"everyone can seal to key %s, so its device ignores instructions and avatars: sign the push, or use a record with a psk", to.kid)
	return s
}

// header is the member pushcrypt of a message (PROTOCOL sections 5 to 7 and 11).
type header struct {
	ID          string       `json:"id"`
	IssuedAt    int64        `json:"iat"`
	ExpiresAt   int64        `json:"exp"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Offload     *Reference   `json:"offload,omitempty"`
	Test        bool         `json:"test,omitempty"`
	Retract     []string     `json:"retract,omitempty"`
	Quiet       bool         `json:"quiet,omitempty"`
	Badge       *badge       `json:"badge,omitempty"`
}

type badge struct {
	Add int `json:"add"`
}

func isAvatar(file Attachment) bool { return file.Use != "" }

// instructs says whether the device demands a proof of the sender (section 11).
func (h *header) instructs() bool {
	return len(h.Retract) > 0 || h.Quiet || h.Badge != nil || slices.ContainsFunc(h.Attachments, isAvatar)
}

func (h *header) check() {
	require(h.Badge == nil || -999 <= h.Badge.Add && h.Badge.Add <= 999, "", "the number for the badge isn't -999 to 999")
	require(len(h.Attachments) <= 8 && len(h.Retract) <= 16, "", "there are more than 8 attachments, or 16 ids to retract")
	for place, file := range h.Attachments {
		file.check()
		isSame := func(other Attachment) bool {
			return file.ID != "" && other.ID == file.ID || isAvatar(file) && isAvatar(other)
		}
		require(!slices.ContainsFunc(h.Attachments[:place], isSame), "", "two attachments have one id, or are avatars")
	}
	if h.Offload != nil {
		h.Offload.check(maxPayload)
	}
	require(!h.Quiet || len(h.Attachments) == 0 && h.Offload == nil, "", "a quiet push has an attachment or an offloaded payload")
	for place, id := range h.Retract {
		unbase64(id, idSize, "an id to retract")
		require(id != h.ID && !slices.Contains(h.Retract[:place], id), "", "an id to retract is there twice, or the push's own")
	}
}

// messageID derives the id of a campaign's push (section 5). The key is K as used in suite 4, else the psk, else empty.
func messageID(campaign string, to *key) string {
	require(1 <= len(campaign) && len(campaign) <= 255, "", "the campaign's name isn't 1 to 255 bytes")
	secret := to.psk
	if to.keyType == shared {
		secret = to.secret
	}
	return base64Of(mac(secret, label(" campaign"), lp16(campaign), lp16(to.kid), lp16(to.device))[:idSize])
}

// MessageID returns the id of a campaign's push to this key, to take it back. Errors: invalidOption.
func (r *Recipient) MessageID(campaign string) (id string, err error) {
	defer catch(&err, "invalidOption", "the campaign")
	return messageID(campaign, r.key()), nil
}
