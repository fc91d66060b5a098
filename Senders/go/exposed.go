package pushcrypt

import (
	"math"
	"slices"
)

const maxExposed = 32

// exposedMembers returns the members of the inner aps that are visible outside (PROTOCOL section 2), each with a comma before it.
func exposedMembers(aps *object, names []string, isQuiet bool) (members []byte) {
	sound, isObject := aps.get("sound").(*object)
	isSilent := aps.get("sound") == nil || aps.get("sound") == "" || isObject && len(sound.members) == 0
	if !isSilent && !isQuiet && !slices.Contains(names, "sound") {
		members = append(members, `,"sound":"default"`...)
	}
	if isInteger(aps.get("content-available"), 1, 1) && !slices.Contains(names, "content-available") {
		members = append(members, `,"content-available":1`...)
	}
	require(len(names) <= maxExposed, "", "more than 32 names are exposed")
	for place, name := range names {
		isHidden := name == "alert" || name == "mutable-content" || name == "sound" && isQuiet
		require(nameForm.MatchString(name) && !isHidden, "", "a member of aps can't be exposed by its name")
		require(aps.has(name), "notExposable", "the payload's aps has no %s to expose", name)
		require(isExposable(name, aps.get(name)), "notExposable", "the type of aps.%s isn't one that can be exposed", name)
		if !slices.Contains(names[:place], name) {
			members = append(append(members, `,"`+name+`":`...), aps.raw(name)...)
		}
	}
	return members
}

func isExposable(name string, value any) bool {
	switch name {
	case "badge":
		return isInteger(value, 0, maxInteger)
	case "category", "filter-criteria", "target-content-id", "thread-id":
		return isString(value)
	case "content-available":
		return isInteger(value, 1, 1)
	case "interruption-level":
		return isOneOf(value, "passive", "active", "time-sensitive", "critical")
	case "relevance-score":
		return isNumber(value, -math.MaxFloat64, math.MaxFloat64)
	case "sound":
		return isString(value) || isSound(value)
	}
	return isString(value) || value == true || value == false || isNumber(value, -math.MaxFloat64, math.MaxFloat64)
}

// isSound says whether it is an object of critical (0 or 1), name and volume (0 to 1).
func isSound(value any) bool {
	sound, isRight := value.(*object)
	if !isRight {
		return false
	}
	for name, part := range sound.members {
		isRight = isRight && (name == "critical" && isInteger(part.value, 0, 1) || name == "name" && isString(part.value) ||
			name == "volume" && isNumber(part.value, 0, 1))
	}
	return isRight
}
