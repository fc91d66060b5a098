/// The names of the classes in an app's Swift files.
struct ClassNames {
    /// All classes, and all names for Objective-C.
    private(set) var all: Set<String> = []
    /// The names for Objective-C, with which iOS finds a class without its module.
    private(set) var objectiveC: Set<String> = []
    /// The classes that inherit from a notification service.
    private(set) var services: [(name: String, path: String)] = []

    private static let parents = ["PushCryptNotificationService", "UNNotificationServiceExtension"]

    /// Adds the classes of a file.
    ///
    /// ```
    /// class NAME [: PARENT ...]    @objc(NAME)
    /// ```
    mutating func add(_ source: String, _ path: String) {
        let tokens = Self.tokens(source)
        for (index, token) in tokens.enumerated() where index + 1 < tokens.count {
            let name = tokens[index + 1]
            switch token {
            case "class":
                all.insert(name)
                if index + 2 < tokens.count, tokens[index + 2] == ":" {
                    let parent = tokens[(index + 3)...].prefix { $0 != "{" }
                        .first { Self.parents.contains($0) }
                    if parent != nil { services.append((name, path)) }
                }
            case "objc":
                all.insert(name)
                objectiveC.insert(name)
            default: break
            }
        }
    }

    /// The names, colons and braces of a source. Comments aren't left out: their names are only too many.
    private static func tokens(_ source: String) -> [String] {
        var tokens: [String] = []
        var name = ""
        for scalar in source.unicodeScalars {
            if scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                name.unicodeScalars.append(scalar)
                continue
            }
            if !name.isEmpty { tokens.append(name) }
            name = ""
            if scalar == ":" || scalar == "{" { tokens.append(String(scalar)) }
        }
        return name.isEmpty ? tokens : tokens + [name]
    }
}
