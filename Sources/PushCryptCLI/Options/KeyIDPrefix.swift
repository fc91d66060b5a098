import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// A key's id, or its first characters.
struct KeyIDPrefix: ExpressibleByArgument {
    static let minimumCharacterCount = 4

    let text: String

    init?(argument: String) {
        let isID = argument.utf8.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "-_") }
        guard isID, (Self.minimumCharacterCount...KeyID.characterCount).contains(argument.utf8.count) else {
            return nil
        }
        guard argument.utf8.count < KeyID.characterCount || KeyID(argument) != nil else { return nil }
        text = argument
    }

    /// The key that is meant. A whole id is returned even if the keyset doesn't have it.
    ///
    /// - Parameter mustBeWhole: whether first characters are refused, because the command doesn't ask for confirmation.
    func kid(among kids: [KeyID], of path: String, mustBeWhole: Bool = false) throws -> KeyID {
        if let kid = KeyID(text) { return kid }
        let found = kids.filter { $0.description.hasPrefix(text) }
        guard let kid = found.first else {
            let all = kids.map(\.description).joined(separator: ", ")
            throw Failure(.noInput, "\(path): no key's id begins with \(text); there are: \(all)")
        }
        guard found.count == 1 else {
            let all = found.map(\.description).joined(separator: " and ")
            throw Failure(.usage, "\(path): \(text) is short for \(all): give more characters")
        }
        guard !mustBeWhole else {
            throw Failure(.usage, "\(path): \(text) is short for \(kid); with --yes, give the whole id")
        }
        return kid
    }
}
