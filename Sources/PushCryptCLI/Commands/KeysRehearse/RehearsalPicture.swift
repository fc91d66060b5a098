import PushCryptCore
import PushCryptKeystore

/// Draws a rehearsal: the keys' states, how keys spread, which pushes are lost, and the losses with other policies.
struct RehearsalPicture {
    private let outcome: RehearsalOutcome
    private let name: String

    static let left = 82.0
    static let plotWidth = 836.0

    init(_ outcome: RehearsalOutcome, name: String) {
        self.outcome = outcome
        self.name = Picture.shortened(name)
    }

    var picture: Picture {
        let verdict = RehearsalVerdict(outcome: outcome)
        let axis = RehearsalAxis(outcome)
        let panels =
            KeyLanes(axis: axis).parts(top: 222) + SpreadPlot(axis).parts(top: 410) + LossPlot(axis).parts(top: 694)
            + LeadPlot(outcome, top: 928).parts
        return Picture(
            title: title, description: "\(verdict.sentence) \(outcome.fleetText)", width: 960, height: 1_140,
            parts: header(verdict) + panels)
    }

    private var title: String { "Rotation of \(name), rehearsed" }

    private func header(_ verdict: RehearsalVerdict) -> [String] {
        let left = 28.0
        let style = verdict.losesNone ? "verdict good" : "verdict lost"
        return [
            SVG.text(title, at: (left, 42), "title"),
            SVG.text(verdict.sentence, at: (left, 70), style),
            SVG.text(verdict.advice ?? verdict.unseen ?? "", at: (left, 90), "text"),
            SVG.text(verdict.advice == nil ? "" : verdict.unseen ?? "", at: (left, 107), "muted"),
            SVG.text("Policy: " + outcome.policyText, at: (left, 130), "muted"),
            SVG.text("Fleet: " + outcome.fleetText, at: (left, 147), "muted"),
        ]
    }
}

/// The time axis that the panels of a rehearsal share. 0 is the first publication.
struct RehearsalAxis {
    let outcome: RehearsalOutcome
    let unit: TimeUnit
    private let start: Int64

    init(_ outcome: RehearsalOutcome) {
        self.outcome = outcome
        start = outcome.rotation.publication(RehearsedRotation.keys.lowerBound)
        unit = TimeUnit(forSpan: Double(outcome.tally.series.period.upperBound - start))
    }

    var end: Int64 { outcome.tally.series.period.upperBound }

    func value(_ time: Int64) -> Double { Double(time - start) / unit.seconds }

    func plot(top: Double, height: Double, _ values: ClosedRange<Double>) -> Plot {
        Plot(
            Frame(left: RehearsalPicture.left, top: top, width: RehearsalPicture.plotWidth, height: height),
            x: 0...value(end), y: values)
    }

    var ticks: [Plot.Tick] {
        Scale.ticks(upTo: value(end), count: 12).map { tick in (tick, NumberText.decimal(tick, 1)) }
    }

    func windows(_ plot: Plot) -> [String] {
        RehearsedRotation.keys.map { key in
            let (start, end) = (outcome.rotation.publication(key), outcome.rotation.activation(key))
            return plot.band(
                value(start)...value(end), "pending band", title: "publishLead \(DurationText.human(end - start))")
        }
    }

    typealias Stage = (state: KeyState, start: Int64, end: Int64)

    func stages(_ key: Int) -> [Stage] {
        let rotation = outcome.rotation
        return [
            (.pending, rotation.publication(key), rotation.activation(key)),
            (.primary, rotation.activation(key), rotation.activation(key + 1)),
            (.retiring, rotation.activation(key + 1), rotation.expiry(key)),
            (.expired, rotation.expiry(key), max(rotation.expiry(key), end)),
        ]
    }
}
