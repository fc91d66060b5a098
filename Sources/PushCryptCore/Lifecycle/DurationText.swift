/// Durations as text: in ISO 8601 for files, and in a short form for people.
///
/// ```
/// human   = 1*(1*DIGIT ("w" / "d" / "h" / "m" / "s"))   each unit once, in this order    as in 90d, 1d12h
/// iso8601 = "P" (1*DIGIT "W" / [1*DIGIT "D"] ["T" [1*DIGIT "H"] [1*DIGIT "M"] [1*DIGIT "S"]])
/// ```
/// ISO 8601's years and months have no fixed length and are refused.
package enum DurationText {
    /// Reads either form as seconds; nil for other texts and for 2^32 or more of a unit.
    package static func seconds(_ text: String) -> Int64? {
        text.hasPrefix("P") ? iso8601(text.utf8.dropFirst()) : human(text)
    }

    /// Writes ISO 8601 with the largest units that fit: `P90D`, `P1DT12H`.
    package static func iso8601(_ seconds: Int64) -> String {
        let units = ["D", "H", "M", "S"]
        let (whole, time) = (parts(seconds, units), parts(seconds % 86_400, units))
        if whole.isEmpty { return "PT0S" }
        return "P" + whole.dropLast(time.count).joined() + (time.isEmpty ? "" : "T" + time.joined())
    }

    /// Writes the form for people: `90d`, `1d12h`.
    package static func human(_ seconds: Int64) -> String {
        let whole = parts(seconds, ["d", "h", "m", "s"])
        return whole.isEmpty ? "0s" : whole.joined()
    }

    /// The days, hours, minutes and seconds with their units, without those that are zero.
    private static func parts(_ seconds: Int64, _ units: [String]) -> [String] {
        zip([seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60], units)
            .filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }
    }

    private static func human(_ text: String) -> Int64? {
        guard !text.isEmpty else { return nil }
        return sum(text.utf8[...], units: [("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)])
    }

    private static func iso8601(_ text: Substring.UTF8View) -> Int64? {
        let halves = text.split(separator: UInt8(ascii: "T"), omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        if halves.count == 1, halves[0].last == UInt8(ascii: "W") {
            return number(halves[0].dropLast()).map { $0 * 604_800 }
        }
        guard let days = sum(halves[0], units: [("D", 86_400)]) else { return nil }
        guard halves.count == 2 else { return halves[0].isEmpty ? nil : days }
        let units: [(Character, Int64)] = [("H", 3_600), ("M", 60), ("S", 1)]
        guard !halves[1].isEmpty, let time = sum(halves[1], units: units) else { return nil }
        return days + time
    }

    /// Reads numbers with their units, each unit at most once and in order.
    private static func sum(_ text: Substring.UTF8View, units: [(Character, Int64)]) -> Int64? {
        var (rest, total) = (text, Int64(0))
        for (unit, seconds) in units {
            let digits = rest.prefix(while: \.isDigit)
            guard let mark = rest.dropFirst(digits.count).first, mark == unit.asciiValue else { continue }
            guard let count = number(digits) else { return nil }
            total += count * seconds
            rest = rest.dropFirst(digits.count + 1)
        }
        return rest.isEmpty ? total : nil
    }

    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty, digits.count <= 10, digits.allSatisfy(\.isDigit) else { return nil }
        let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 48) }
        return number <= Int64(UInt32.max) ? number : nil
    }
}
