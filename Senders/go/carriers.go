package pushcrypt

import (
	"encoding/json"
	"slices"
	"strings"
)

// Carrier is the way of a push to the device (PROTOCOL section 2, docs/services.md). The app names it too.
type Carrier string

// The carriers: APNs itself, a client that writes the JSON again, apns.payload of Firebase, services whose custom values are strings
// such as data of Firebase, Expo, and OneSignal.
const (
	APNs      Carrier = "apns"
	Rebuilt   Carrier = "rebuilt"
	FCM       Carrier = "fcm"
	Text      Carrier = "text"
	Expo      Carrier = "expo"
	OneSignal Carrier = "oneSignal"
)

const maxOneSignalLifetime = 28 * 86_400 // seconds

type way struct {
	// reserved is the number of bytes that client and service add at most.
	reserved int
	// path has the names of the envelope and of the objects around it, from the root.
	path []string
	// fields are those for texts and for members of aps, of a service that writes aps itself.
	fields map[string]string
}

var ways = map[Carrier]way{
	APNs: {0, []string{"pushcrypt"}, nil}, Rebuilt: {64, []string{"pushcrypt"}, nil},
	FCM: {192, []string{"pushcrypt"}, nil}, Text: {192, []string{"pushcrypt"}, nil},
	Expo: {192, []string{"body", "pushcrypt"}, map[string]string{
		"title": "title", "subtitle": "subtitle", "body": "body", "sound": "sound", "badge": "badge", "category": "categoryId",
		"interruption-level": "interruptionLevel", "content-available": "_contentAvailable",
	}},
	OneSignal: {128, []string{"custom", "a", "pushcrypt"}, map[string]string{
		"title": "headings", "subtitle": "subtitle", "body": "contents", "sound": "ios_sound", "badge": "ios_badgeCount",
		"category": "ios_category", "thread-id": "thread_id", "interruption-level": "ios_interruption_level",
		"relevance-score": "ios_relevance_score", "target-content-id": "target_content_identifier", "content-available": "content_available",
	}},
}

var literalTexts = []string{"title", "subtitle", "body"}

func (c Carrier) way() way {
	found, isKnown := ways[c]
	require(isKnown, "", "the carrier isn't one of the constants of this package")
	return found
}

// place returns the envelope before and behind the characters of sealed, with its names and the brackets around it.
func (c Carrier) place(head, tail string) (string, string) {
	if c == Text {
		head, tail = `"`+strings.ReplaceAll(head, `"`, `\"`), strings.ReplaceAll(tail, `"`, `\"`)+`"`
	}
	path := c.way().path
	return `"` + strings.Join(path, `":{"`) + `":` + head, tail + strings.Repeat("}", len(path)-1)
}

// check refuses what the service has no field for.
func (c Carrier) check(alert []byte, exposed []string, aps *object) {
	fields := c.way().fields
	if fields == nil {
		return
	}
	members := parse(alert)
	for name := range members.members {
		isTaken := slices.Contains(literalTexts, name)
		require(isTaken, "invalidPlaceholder", "the service of %s takes only the literal texts Title, Subtitle and Body", c)
	}
	require(c != OneSignal || members.has("body"), "invalidPlaceholder", "OneSignal needs a Body")
	for _, name := range exposed {
		isTaken := fields[name] != "" && !slices.Contains(literalTexts, name) && (name != "sound" || isString(aps.get("sound")))
		require(isTaken, "notExposable", "the service of %s has no field for %s, or takes only the name of a sound", c, name)
	}
}

// Request returns the members of the request to Firebase, Expo or OneSignal, as docs/services.md shows them. Add the address of the
// device, which Firebase has in message, and your credentials. With APNs and Rebuilt it is nil: send Body with Headers.
func (p *SealedPush) Request() map[string]any {
	root, headers := parse(p.Body), p.Headers()
	delete(headers, "apns-topic")
	aps := json.RawMessage(root.raw("aps"))
	switch p.Carrier {
	case FCM:
		apns := map[string]any{"headers": headers, "payload": json.RawMessage(p.Body)}
		return map[string]any{"message": map[string]any{"apns": apns}}
	case Text:
		apns := map[string]any{"headers": headers, "payload": map[string]any{"aps": aps}}
		data := map[string]string{"pushcrypt": root.string("pushcrypt")}
		return map[string]any{"message": map[string]any{"apns": apns, "data": data}}
	case Expo, OneSignal:
		return p.ownRequest(root)
	}
	return nil
}

// ownRequest is that of a service that writes aps itself.
func (p *SealedPush) ownRequest(root *object) map[string]any {
	request, aps, isExpo := map[string]any{}, root.object("aps"), p.Carrier == Expo
	for name, field := range p.Carrier.way().fields {
		from, isText := aps, slices.Contains(literalTexts, name)
		if isText {
			from = aps.object("alert")
		}
		text, _ := from.get(name).(string)
		switch {
		case !from.has(name):
		case name == "content-available":
			request[field] = true
		case isText && !isExpo:
			request[field] = map[string]any{"en": text}
		case name == "interruption-level" && !isExpo:
			request[field] = strings.ReplaceAll(text, "-", "_")
		default:
			request[field] = json.RawMessage(from.raw(name))
		}
	}
	if isExpo {
		request["mutableContent"], request["data"], request["expiration"] = true, json.RawMessage(root.raw("body")), p.ExpiresAt.Unix()
		request["priority"] = map[bool]string{false: "high", true: "normal"}[p.isQuiet]
		return request
	}
	request["mutable_content"], request["data"] = true, json.RawMessage(root.object("custom").raw("a"))
	request["priority"] = map[bool]int{false: 10, true: 5}[p.isQuiet]
	request["ttl"] = min(p.ExpiresAt.Unix()-p.SealedAt.Unix(), maxOneSignalLifetime)
	if !aps.has("sound") {
		request["ios_sound"] = "nil" // Otherwise OneSignal adds the default sound.
	}
	if aps.has("badge") {
		request["ios_badgeType"] = "SetTo"
	}
	if p.collapseID != "" {
		request["collapse_id"] = p.collapseID
	}
	return request
}
