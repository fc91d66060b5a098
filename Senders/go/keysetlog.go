package pushcrypt

import "slices"

const maxValidity = 90 * 86_400 // seconds

var lineForm = shape("n at:time who:text what prev:hash why?:text r?:id id?:id kind? keys? policy? publication? epochs? writer?:text " +
	"secrets? over? revoked? issuedAt?:time validUntil?:time epoch? publisher?")

// places has the members that only lines of these actions have.
var places = map[string][]string{
	"issuedAt": {"published", "restored"}, "over": {"restored"}, "revoked": {"restored"}, "epoch": {"published"},
	"validUntil": {"published"}, "publisher": {"published"}, "id": {"created"}, "kind": {"created"},
}

// Point is the number of a line of a keyset's log and its hash, base64url of 32 bytes (docs/keyset-log.md).
type Point struct {
	N    int64  `json:"n"`
	Hash string `json:"hash"`
}

// loggedKey is a key of the log, without its material. The key is nil if it is shared.
type loggedKey struct {
	key            *key
	times          times
	hasPSK, isLost bool
}

// keysetLog is what the lines of a keyset's log say.
type keysetLog struct {
	id, kind     string
	at, issuedAt int64
	head         Point
	// points has those of the lines, and those that a restoration has abandoned.
	points  []Point
	keys    map[string]*loggedKey
	revoked times
	secrets []any
	epochs  map[string]bool
}

func parseLog(rows [][]byte) *keysetLog {
	require(len(rows) > 0, "incomplete", "there is no line")
	first := Point{0, base64Of(make([]byte, hashSize))}
	log := &keysetLog{keys: map[string]*loggedKey{}, revoked: times{}, epochs: map[string]bool{}, head: first, issuedAt: firstSecond}
	for place, row := range rows {
		inRow(place+1, func() { log.add(row) })
	}
	return log
}

// add checks the form of a line and its place behind the others, and takes what it says.
func (l *keysetLog) add(row []byte) {
	line := parse(row, true)
	lineForm(line)
	require(line.has("why") == line.has("r"), "", "why and r aren't together")
	what, n, at, isFirst := line.string("what"), line.integer("n", 1, 1<<52), line.time("at"), l.head.N == 0
	require(n == l.head.N+1 || n > l.head.N && what == "restored", "wrongNumber", "n isn't the next number")
	require(line.get("prev") == l.head.Hash, "brokenChain", "prev isn't the hash of the line before")
	require(isFirst || at >= l.at || what == "clockCorrected", "timeWentBack", "at is before that of the line before")
	require((what == "created") == isFirst, "misplaced", "line 1, and no other, is created")
	for name, actions := range places {
		require(!line.has(name) || slices.Contains(actions, what), "misplaced", "a line %s has no %s", what, name)
	}
	if isFirst {
		l.id, l.kind = line.string("id"), line.string("kind")
		require(l.id[0] != '-', "", "id begins with -")
	}
	publishes := line.has("publication") || len(line.membersOf("epochs")) > 0
	require(l.kind == "sender" || !publishes, "misplaced", "a keyset of kind %s publishes no sets", l.kind)
	require(l.kind != "publisher" || !line.has("policy"), "misplaced", "a keyset of publishers has no policy")
	for kid, change := range line.membersOf("keys") {
		l.takeKey(kid, change.value.(*object))
	}
	for kid, moment := range line.membersOf("revoked") {
		require(l.keys[kid] == nil, "misplaced", "the log has key %s of revoked", kid)
		if !l.revoked.has(kid) {
			l.revoked[kid] = readTime(moment.value, kid)
		}
	}
	if line.has("secrets") {
		l.secrets = line.list("secrets", 0, 8)
	}
	l.takePublication(line, what)
	l.head, l.at = Point{n, base64Of(digest(row))}, at
	l.points = append(l.points, l.head)
	if line.has("over") {
		for _, one := range line.list("over", 1, maxKeyset) {
			abandoned := one.(*object)
			l.points = append(l.points, Point{abandoned.integer("n", 1, 1<<52), abandoned.string("hash")})
		}
	}
}

func (l *keysetLog) takeKey(kid string, change *object) {
	known := l.keys[kid]
	require(known == nil || !change.has("jwk") && !change.has("psk"), "misplaced", "key %s is known: it gets no jwk and no psk", kid)
	if known == nil {
		known = l.newKey(kid, change)
		l.keys[kid] = known
	}
	for _, moment := range moments {
		isFinal := (moment == "revokedAt" || moment == "destroyedAt") && known.times.has(moment)
		switch {
		case isFinal || !change.has(moment):
		case change.get(moment) == nil:
			delete(known.times, moment)
		default:
			known.times[moment] = change.time(moment)
		}
	}
	if change.has("lost") {
		known.isLost = change.get("lost") == true
	}
}

func (l *keysetLog) newKey(kid string, change *object) *loggedKey {
	logged := &loggedKey{times: times{}, hasPSK: change.has("psk")}
	if change.has("jwk") {
		logged.key = readRecord(change.get("jwk"), false)
		require(logged.key.secret == nil && logged.key.psk == nil, "", "the jwk of key %s has a secret", kid)
	}
	require(!l.revoked.has(kid), "misplaced", "key %s was revoked before it was added", kid)
	require(!logged.hasPSK || l.kind == "recipient", "misplaced", "only a recipient's key has a psk")
	require((logged.key == nil) == (l.kind == "shared"), "misplaced", "key %s is new and has no jwk, or is shared and has one", kid)
	require(logged.key == nil || logged.key.kind() == l.kind, "wrongKind", "key %s isn't of the keyset's kind", kid)
	require(logged.key == nil || logged.key.kid == kid, "kidMismatch", "the jwk of key %s is another key", kid)
	return logged
}

func (l *keysetLog) takePublication(line *object, what string) {
	for epoch, keyset := range line.membersOf("epochs") {
		l.epochs[epoch] = keyset.value != nil
	}
	isSigned := line.has("epoch")
	isComplete := isSigned == line.has("validUntil") && (isSigned || !line.has("publisher"))
	require(isComplete && (what != "published" || line.has("issuedAt")), "", "issuedAt is missing, or epoch and validUntil aren't together")
	if line.has("issuedAt") {
		require(line.time("issuedAt") >= l.issuedAt, "timeWentBack", "issuedAt is before an earlier one")
		l.issuedAt = line.time("issuedAt")
	}
	if isSigned {
		require(l.epochs[string(line.raw("epoch"))], "unknownEpoch", "epoch isn't one of the epochs")
		validity := line.time("validUntil") - l.issuedAt
		require(0 < validity && validity <= maxValidity, "", "validUntil isn't within 90 days after issuedAt")
	}
}
