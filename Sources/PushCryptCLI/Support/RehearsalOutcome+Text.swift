import PushCryptCore
import PushCryptKeystore

extension RehearsalOutcome {
    /// The times after a publication that are worth a line: whole hours, the lead, and what lies between.
    var coverageRows: [CoverageRow] {
        let hours = [1, 6, 12, 24, 48, 96, 168, 336, 504, 720]
        let lead = rotation.publishLeadInSeconds
        let rows = hours.filter { Int64($0) * 3_600 != lead }.map { hours in
            CoverageRow(seconds: Int64(hours) * 3_600, holding: tally.firstFetches.count(within: hours), isLead: false)
        }
        let atLead = CoverageRow(seconds: lead, holding: tally.heldAtActivation, isLead: true)
        return (rows + [atLead]).sorted { $0.seconds < $1.seconds }
    }

    struct CoverageRow {
        let seconds: Int64
        /// Of `tally.holders`.
        let holding: Int
        let isLead: Bool
    }

    /// Leads and overlaps to compare with.
    static let comparedDays = [0, 1, 3, 7, 14, 21, 30]

    /// The policy in the words of its file.
    var policyText: String {
        let coverage = policy.requiredCoverage.map { ", requireCoverage \($0)" } ?? ""
        return "rotateEvery \(DurationText.human(policy.rotateEveryInSeconds)), publishLead "
            + "\(DurationText.human(policy.publishLeadInSeconds)), overlap "
            + "\(DurationText.human(policy.overlapInSeconds)), keep \(policy.keep)\(coverage)"
    }

    var fleetText: String {
        "\(ShareText.grouped(fleet.devices)) devices; half fetch keys at least every "
            + "\(DurationText.human(fleet.refreshP50InSeconds)), 99% every "
            + "\(DurationText.human(fleet.refreshP99InSeconds)); \(ShareText.decimal(fleet.offline * 100, 3))% offline "
            + "at any moment; \(ShareText.decimal(fleet.pushesPerDay, 3)) pushes a day each; seed \(fleet.seed)"
    }
}
