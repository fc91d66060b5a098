#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An error of this package. Its `localizedDescription` is its description, which contains no secret.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

// All requirements, so that a file that declares an error doesn't import Foundation.
extension DescribedError {
    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }
    /// nil
    public var failureReason: String? { nil }
    /// nil
    public var recoverySuggestion: String? { nil }
    /// nil
    public var helpAnchor: String? { nil }
}
