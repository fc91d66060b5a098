import PushCryptCore
import PushCryptPrimitives

enum NumberText {
    /// A percentage such as `0.00031%` or `99.97%`. It is `0%` or `100%` only if it is exactly that.
    static func percent(_ count: Int, of total: Int) -> String {
        guard total > 0 else { return "-" }
        guard count > 0 else { return "0%" }
        guard count < total else { return "100%" }
        let percent = Double(count) / Double(total) * 100
        // Two significant digits of the smaller part: of 0.03 in 99.97%.
        let rest = Double(min(count, total - count)) / Double(total) * 100
        let decimals = rest >= 1 ? 1 : min(Int((-log10(rest)).rounded(.up)) + 1, 15)
        return decimal(percent, decimals) + "%"
    }

    /// A number without zeros at the end.
    static func decimal(_ value: Double, _ decimals: Int) -> String {
        let scale = pow(10, Double(decimals))
        let scaled = Int((value * scale).rounded())
        let (whole, rest) = (scaled / Int(scale), scaled % Int(scale))
        guard rest > 0 else { return String(whole) }
        var digits = String(rest)
        digits = String(repeating: "0", count: decimals - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits)"
    }

    static func grouped(_ count: Int) -> String {
        var (rest, groups) = (count, [String]())
        while rest >= 1_000 {
            groups.append(String(String(1_000 + rest % 1_000).dropFirst()))
            rest /= 1_000
        }
        return ([String(rest)] + groups.reversed()).joined(separator: ",")
    }

    /// `1 line`, `2 lines`, `2 pushes`
    static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : noun.hasSuffix("sh") ? "es" : "s")"
    }

    /// A share as a bar in eighths of a cell. It is empty only for 0 and full only for all.
    static func bar(_ count: Int, of total: Int, width: Int) -> String {
        guard total > 0, count > 0 else { return "" }
        let eighths = count == total ? width * 8 : min(max(count * width * 8 / total, 1), width * 8 - 1)
        let part = eighths % 8
        let tail = part == 0 ? "" : String(Array("▏▎▍▌▋▊▉")[part - 1])
        return String(repeating: "█", count: eighths / 8) + tail
    }
}

extension [String] {
    /// `--keys`, `--keys or --app`, `--topic, --keys or --app`
    func listed(with conjunction: String) -> String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " \(conjunction) \(self[count - 1])"
    }
}

/// The distance between two times in the largest unit that is exact enough for planning.
enum TimeDistance {
    /// `in 12d`, `3d ago`, `now`
    static func text(_ time: UnixTime, from now: UnixTime) -> String {
        let seconds = time.seconds - now.seconds
        if seconds == 0 { return "now" }
        return seconds > 0 ? "in \(rough(seconds))" : "\(rough(-seconds)) ago"
    }

    /// Rounded down: days from two days on, below that hours, minutes and seconds.
    static func rough(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds)s"
        case ..<7_200: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3_600)h"
        default: "\(seconds / 86_400)d"
        }
    }
}

extension String {
    func padded(to columns: Int) -> String { self + String(repeating: " ", count: max(columns - columnCount, 0)) }

    func leftPadded(to count: Int, _ padding: String = " ") -> String {
        String(repeating: padding, count: max(count - self.count, 0)) + self
    }
}

extension Suite {
    /// The name on the command line and in JSON, as in `xwing`.
    var name: String? { KeyAlgorithm.allCases.first { $0.suite == self }?.rawValue }

    /// Whether a recorded push stays secret from a quantum computer, as in `yes, X-Wing`.
    ///
    /// - Parameter hasPSK: whether a push to the key is sealed with a psk, without which it can't be opened.
    func postQuantumText(hasPSK: Bool) -> String {
        let key = keyPairType.map { "\($0)" } ?? "a shared secret"
        guard !isPostQuantum else { return "yes, \(key)" }
        let condition = hasPSK ? " and the psk" : ""
        return "no, \(key): an attacker who records it can open it later with a large quantum computer\(condition)"
    }
}
