public import Foundation

extension Bundle {
    /// The bundle identifier of the app under test, which has no Info.plist here.
    public var stubIdentifier: String? { "com.example.app" }
}
