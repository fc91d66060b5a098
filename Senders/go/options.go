package pushcrypt

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// In seconds, and names of exposed members.
const maxLifetime, maxExposed = 2_592_000, 32

// Values for [Options], Padding.
const PadToLimit, NoPadding = maxLimit, 1

// Options say how to seal a push. A member that is zero has its default. Seal refuses a value out of its range.
type Options struct {
	// Padding hides the length: the message is padded to a multiple of this number of bytes, 128 by default, at most to the limit.
	Padding int
	// Limit is the largest size of the whole push in bytes, at most 4,096. The default leaves free what the carrier adds.
	Limit int
	// Lifetime is the time until the message expires: 1 second to [Recipient.LongestLifetime], which is the default.
	Lifetime time.Duration
	// Exposed names members of aps that stay readable on the way, such as badge.
	Exposed []string
	// Carrier is the way to the device, which the app must name too: APNs by default.
	Carrier Carrier
	// CollapseID is apns-collapse-id, 1 to 64 characters of ASCII, by which a later push replaces this one. APNs can read it.
	CollapseID string
	// Campaign names this push, with 1 to 255 bytes. Sealed again for the same recipient, it has the same id and is shown once.
	Campaign string
	// MinimumSuite refuses a recipient whose suite ranks below it: 3 demands a key that resists quantum computers.
	MinimumSuite int
	// RequiresDayKey refuses a device with day keys that has none for this day. Otherwise the key of its record is used, which opens longer.
	RequiresDayKey bool
	// AllowsBareSharedKey allows a shared key that isn't the key of one device: everyone who has it can open the push.
	AllowsBareSharedKey bool
	// Offload keeps the sealed blob of a payload that doesn't fit, and returns its https address. Upload it before you send the push,
	// whose alert is then the placeholder.
	Offload func(*SealedBlob) (url string, err error)
	// Offloaded refers to a sealed payload, which is shown in place of the payload of this push.
	Offloaded *Reference
	// Attachments refer to sealed files, at most 8.
	Attachments []Attachment
	// Retracted has the ids of earlier pushes to take back, at most 16.
	Retracted []string
	// IsQuiet asks the app to show nothing, if it may, and IsSelfTest its extension for a receipt that it works.
	IsQuiet, IsSelfTest bool
	// Badge changes the app's badge.
	Badge *Badge
}

// Badge adds a number of -999 to 999 to the app's badge.
type Badge struct {
	Add int `json:"add"`
}

var collapseForm = regexp.MustCompile(`^[ -~]{1,64}$`)

// check returns the options with their defaults.
func (o Options) check(bound binding, longest time.Duration) Options {
	o.Carrier = cmp.Or(o.Carrier, APNs)
	o.Limit, o.MinimumSuite = cmp.Or(o.Limit, maxLimit-o.Carrier.way().reserved), cmp.Or(o.MinimumSuite, 1)
	require(1 <= o.Limit && o.Limit <= maxLimit, "", "the limit isn't 1 to 4,096 bytes")
	require(o.Padding >= 0, "", "the padding isn't positive")
	// No message is longer than the limit.
	o.Padding = min(cmp.Or(o.Padding, 128), PadToLimit)
	o.Lifetime = cmp.Or(o.Lifetime, longest)
	require(time.Second <= o.Lifetime && o.Lifetime <= maxLifetime*time.Second, "", "the lifetime isn't 1 second to 30 days")
	require(o.Lifetime < longest+time.Second, "expiresTooLate", "the device erases the key %s before the push expires", bound.to.kid)
	require(1 <= o.MinimumSuite && o.MinimumSuite <= 4, "", "the minimum suite isn't 1 to 4")
	isCollapseID := o.CollapseID == "" || o.Carrier != Expo && collapseForm.MatchString(o.CollapseID)
	require(isCollapseID, "", "the collapse id isn't 1 to 64 printable characters of ASCII, or Expo has no field for one")
	to := bound.to
	require(o.AllowsBareSharedKey || !to.isMaster(), "deviceMissing",
		"everyone who has the shared key %s could open the push: seal to Recipient.ForDevice, or set AllowsBareSharedKey", to.kid)
	require(rank(to.suite) >= rank(o.MinimumSuite), "suiteTooLow", "key %s has suite %d, and %d is required", to.kid, to.suite, o.MinimumSuite)
	instructs := len(o.Retracted) > 0 || o.IsQuiet || o.Badge != nil || slices.ContainsFunc(o.Attachments, isAvatar)
	require(bound.signer != nil || to.provesSender() || !instructs, "notAuthenticated",
		"everyone can seal to key %s, so its device ignores instructions and avatars: sign the push, or use a record with a psk", to.kid)
	return o
}

// provesSender says whether only one who has a secret can seal to the key (PROTOCOL section 11).
func (k *key) provesSender() bool { return k.psk != nil || k.keyType == shared }

// header is the member pushcrypt of a message (PROTOCOL sections 5 to 7 and 11).
type header struct {
	ID          string         `json:"id"`
	IssuedAt    int64          `json:"iat"`
	ExpiresAt   int64          `json:"exp"`
	Attachments []*blobMembers `json:"attachments,omitempty"`
	Offload     *blobMembers   `json:"offload,omitempty"`
	Test        bool           `json:"test,omitempty"`
	Retract     []string       `json:"retract,omitempty"`
	Quiet       bool           `json:"quiet,omitempty"`
	Badge       *Badge         `json:"badge,omitempty"`
}

func isAvatar(file Attachment) bool { return file.Use != "" }

// header returns the header of a push to the key of a record at a time.
func (o Options) header(to *key, now time.Time) header {
	made := header{base64Of(random(idSize)), now.Unix(), now.Unix() + int64(o.Lifetime/time.Second), nil, nil, o.IsSelfTest, o.Retracted, o.IsQuiet, o.Badge}
	if o.Campaign != "" {
		made.ID = messageID(o.Campaign, to)
	}
	require(0 <= made.IssuedAt && made.IssuedAt <= maxInteger && made.ExpiresAt <= maxInteger, "", "the clock's time can't be represented")
	require(o.Badge == nil || -999 <= o.Badge.Add && o.Badge.Add <= 999, "", "the number for the badge isn't -999 to 999")
	require(len(o.Attachments) <= 8 && len(o.Retracted) <= 16, "", "there are more than 8 attachments, or 16 ids to retract")
	for place, file := range o.Attachments {
		made.Attachments = append(made.Attachments, file.check())
		isSame := func(other Attachment) bool {
			return file.ID != "" && other.ID == file.ID || isAvatar(file) && isAvatar(other)
		}
		require(!slices.ContainsFunc(o.Attachments[:place], isSame), "", "two attachments have one id, or are avatars")
	}
	if o.Offloaded != nil {
		made.Offload = o.Offloaded.check(forPayload)
	}
	require(!o.IsQuiet || len(o.Attachments) == 0 && o.Offloaded == nil, "", "a quiet push has an attachment or an offloaded payload")
	for place, id := range o.Retracted {
		unbase64(id, idSize, "an id to retract")
		require(id != made.ID && !slices.Contains(o.Retracted[:place], id), "", "an id to retract is there twice, or the push's own")
	}
	return made
}

// messageID derives the id of a campaign's push (section 5). The key is K as used in suite 4, else the psk, else empty.
func messageID(campaign string, to *key) string {
	require(1 <= len(campaign) && len(campaign) <= 255 && utf8.ValidString(campaign), "", "the campaign's name isn't 1 to 255 bytes of UTF-8")
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

// exposed returns the members of the inner aps that are visible outside (PROTOCOL section 2), each with a comma before it.
func (o Options) exposed(aps *object) (members []byte) {
	sound, isObject := aps.get("sound").(*object)
	isSilent := aps.get("sound") == nil || aps.get("sound") == "" || isObject && len(sound.members) == 0
	if !isSilent && !o.IsQuiet && !slices.Contains(o.Exposed, "sound") {
		members = append(members, `,"sound":"default"`...)
	}
	if isInteger(aps.get("content-available"), 1, 1) && !slices.Contains(o.Exposed, "content-available") {
		members = append(members, `,"content-available":1`...)
	}
	require(len(o.Exposed) <= maxExposed, "", "more than 32 names are exposed")
	for place, name := range o.Exposed {
		isHidden := name == "alert" || name == "mutable-content" || name == "sound" && o.IsQuiet
		require(nameForm.MatchString(name) && !isHidden, "", "a member of aps can't be exposed by its name")
		require(aps.has(name), "notExposable", "the payload's aps has no %s to expose", name)
		require(isExposable(name, aps.get(name)), "notExposable", "the type of aps.%s isn't one that can be exposed", name)
		if !slices.Contains(o.Exposed[:place], name) {
			members = append(append(members, `,"`+name+`":`...), aps.raw(name)...)
		}
	}
	return members
}

// exposable has the forms of the members that have one (PROTOCOL section 2, "Exposed members").
var exposable = map[string]form{
	"badge": integerIn(0, maxInteger), "content-available": integerIn(1, 1), "relevance-score": isFinite,
	"category": isString, "filter-criteria": isString, "target-content-id": isString, "thread-id": isString,
	"interruption-level": matching(`^(passive|active|time-sensitive|critical)$`),
	"sound": func(value any) bool {
		_, isRight := value.(*object)
		for name, part := range membersOf(value) {
			isRight = isRight && soundForms[name] != nil && soundForms[name](part.value)
		}
		return isRight || isString(value)
	},
}

var soundForms = map[string]form{
	"critical": integerIn(0, 1), "name": isString, "volume": func(value any) bool { return isNumber(value, 0, 1) },
}

// isExposable also allows a string, a number or a boolean of any other name.
func isExposable(name string, value any) bool {
	if fits, hasForm := exposable[name]; hasForm {
		return fits(value)
	}
	return isString(value) || value == true || value == false || isFinite(value)
}

func isFinite(value any) bool { return isNumber(value, -math.MaxFloat64, math.MaxFloat64) }

// isNumber says whether it is a number in the range that a double has.
func isNumber(value any, lowest, highest float64) bool {
	text, _ := value.(number)
	found, err := strconv.ParseFloat(string(text), 64)
	return err == nil && lowest <= found && found <= highest
}
