package pushcrypt

import (
	"encoding/json"
	"maps"
	"strings"
)

// Carrier is the way of a push to the device (PROTOCOL section 2, docs/services.md). The app names it too.
type Carrier string

// The carriers.
const (
	// APNs is APNs itself, and services that bring the sealed bytes unchanged.
	APNs Carrier = "apns"
	// Rebuilt is a client that writes the JSON again.
	Rebuilt Carrier = "rebuilt"
	// FCM is Firebase, apns.payload.
	FCM Carrier = "fcm"
	// Text is Firebase, data, and services whose custom values are strings.
	Text Carrier = "text"
	// Expo is Expo's service.
	Expo Carrier = "expo"
	// OneSignal is OneSignal's service.
	OneSignal Carrier = "oneSignal"
)

const maxOneSignalLifetime = 28 * 86_400 // seconds

type way struct {
	// reserved is the number of bytes that client and service add at most.
	reserved int
	// path has the names of the envelope and of the objects around it, from the root.
	path []string
	// fields are those for members of aps, of a service that writes aps itself.
	fields map[string]string
}

var ways = map[Carrier]way{
	APNs: {0, []string{"pushcrypt"}, nil}, Rebuilt: {64, []string{"pushcrypt"}, nil},
	FCM: {192, []string{"pushcrypt"}, nil}, Text: {192, []string{"pushcrypt"}, nil},
	Expo: {192, []string{"body", "pushcrypt"}, map[string]string{
		"sound": "sound", "badge": "badge", "category": "categoryId", "interruption-level": "interruptionLevel",
		"content-available": "_contentAvailable",
	}},
	OneSignal: {128, []string{"custom", "a", "pushcrypt"}, map[string]string{
		"sound": "ios_sound", "badge": "ios_badgeCount", "category": "ios_category", "thread-id": "thread_id",
		"interruption-level": "ios_interruption_level", "relevance-score": "ios_relevance_score",
		"target-content-id": "target_content_identifier", "content-available": "content_available",
	}},
}

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
	members := parse(alert, true)
	for name := range members.members {
		isLiteral := isOneOf(name, "title", "subtitle", "body")
		require(isLiteral, "invalidPlaceholder", "the service of %s takes only the literal texts Title, Subtitle and Body", c)
	}
	require(c != OneSignal || members.has("body"), "invalidPlaceholder", "OneSignal needs a Body")
	for _, name := range exposed {
		_, isName := aps.get("sound").(string)
		isTaken := fields[name] != "" && (name != "sound" || isName)
		require(isTaken, "notExposable", "the service of %s has no field for %s, or takes only the name of a sound", c, name)
	}
}

// Request returns the members of the request to Firebase, Expo or OneSignal, as docs/services.md shows them. Add the address of the
// device, which Firebase has in message, and your credentials. With APNs and Rebuilt it is nil: send Body with Headers.
func (p *SealedPush) Request() map[string]any {
	root := parse(p.Body, false)
	aps, headers := root.object("aps"), p.Headers()
	delete(headers, "apns-topic")
	switch p.Carrier {
	case FCM:
		return message(map[string]any{"apns": map[string]any{"headers": headers, "payload": json.RawMessage(p.Body)}})
	case Text:
		apns := map[string]any{"headers": headers, "payload": map[string]any{"aps": json.RawMessage(root.raw("aps"))}}
		return message(map[string]any{"data": map[string]string{"pushcrypt": root.string("pushcrypt")}, "apns": apns})
	case Expo:
		return p.expoRequest(root, aps)
	case OneSignal:
		return p.oneSignalRequest(root, aps)
	}
	return nil
}

func message(members map[string]any) map[string]any { return map[string]any{"message": members} }

// ownFields returns the fields of a service that writes aps itself.
func (p *SealedPush) ownFields(aps *object) map[string]any {
	found := map[string]any{}
	for name, field := range p.Carrier.way().fields {
		if aps.has(name) {
			found[field] = json.RawMessage(aps.raw(name))
		}
		if aps.has(name) && name == "content-available" {
			found[field] = true
		}
	}
	return found
}

func (p *SealedPush) expoRequest(root, aps *object) map[string]any {
	alert, priority := aps.object("alert"), "high"
	if p.isQuiet {
		priority = "normal"
	}
	members := p.ownFields(aps)
	for name := range alert.members {
		members[name] = alert.string(name)
	}
	maps.Copy(members, map[string]any{
		"mutableContent": true, "data": json.RawMessage(root.raw("body")), "priority": priority, "expiration": p.ExpiresAt.Unix(),
	})
	return members
}

func (p *SealedPush) oneSignalRequest(root, aps *object) map[string]any {
	alert, priority := aps.object("alert"), 10
	if p.isQuiet {
		priority = 5
	}
	// Without a sound OneSignal adds the default one.
	members := map[string]any{"ios_sound": "nil"}
	maps.Copy(members, p.ownFields(aps))
	for name, field := range map[string]string{"title": "headings", "subtitle": "subtitle", "body": "contents"} {
		if alert.has(name) {
			members[field] = map[string]string{"en": alert.string(name)}
		}
	}
	if level, isText := aps.get("interruption-level").(string); isText {
		members["ios_interruption_level"] = strings.ReplaceAll(level, "-", "_")
	}
	if aps.has("badge") {
		members["ios_badgeType"] = "SetTo"
	}
	if p.collapseID != "" {
		members["collapse_id"] = p.collapseID
	}
	lifetime := min(int64(p.ExpiresAt.Sub(p.SealedAt).Seconds()), maxOneSignalLifetime)
	maps.Copy(members, map[string]any{
		"mutable_content": true, "data": json.RawMessage(root.object("custom").raw("a")), "priority": priority, "ttl": lifetime,
	})
	return members
}
