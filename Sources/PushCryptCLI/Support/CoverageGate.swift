import PushCryptCore
import PushCryptKeystore

/// Whether enough devices hold a key, by their own reports, for it to seal.
struct CoverageGate {
    private let reports: DeviceReports?

    /// - Parameter file: the reports; `-` is stdin, nil for none.
    init(reports file: String?) throws {
        reports = try file.map { file in try DeviceReports(file: file) }
    }

    /// - Returns: nil where there are no reports.
    func verdict(
        on kid: KeyID, _ required: RotationPolicy.Coverage, _ timeline: KeyTimeline, at time: UnixTime
    ) -> RotationPlan.CoverageVerdict? {
        guard let coverage = reports?.coverage(of: kid, in: timeline, at: time) else { return nil }
        let counts = "\(coverage.holding) of \(coverage.seen) devices seen in the last 30 days hold it"
        let isEnough = coverage.meets(required)
        return .init(
            isEnough: isEnough, explanation: isEnough ? counts : counts + ", and \(required) are required")
    }
}
