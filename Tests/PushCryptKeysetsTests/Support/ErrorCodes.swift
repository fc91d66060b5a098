import PushCryptCore

@testable import PushCryptKeysets

extension KeystoreError.Code {
    /// The code of the `KeystoreError` that `body` throws; nil if it throws none, or another error.
    static func thrown<Result>(by body: () throws -> Result) -> Self? {
        do { _ = try body() } catch { return (error as? KeystoreError)?.code }
        return nil
    }
}

extension KeyError.Code {
    /// The code of the `KeyError` that `body` throws; nil if it throws none, or another error.
    static func thrown<Result>(by body: () throws -> Result) -> Self? {
        do { _ = try body() } catch { return (error as? KeyError)?.code }
        return nil
    }
}

extension KeysetLogError.Code {
    /// The code of the `KeysetLogError` that `body` throws; nil if it throws none, or another error.
    static func thrown<Result>(by body: () throws -> Result) -> Self? {
        do { _ = try body() } catch { return (error as? KeysetLogError)?.code }
        return nil
    }
}
