import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// What the property lists of the app's project or product show.
enum AppFaults {
    static let all: [Detector] = [
        unreadable, wrongExtensionPoint, extensionMissing, notEmbedded, extensionIdentifier, deploymentTarget,
        principalClass, classRenamed,
        pushEntitlement, appGroup, keychainGroup,
    ]

    private static func unreadable(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, !app.unreadable.isEmpty else { return nil }
        return Fault(
            .warning, "property-list-unreadable",
            "A file isn't a property list, or a file or folder can't be read, so it wasn't examined.",
            app.unreadable.prefix(3).map { "app: \($0)" }, do: "Open it in Xcode and correct it.")
    }

    private static func wrongExtensionPoint(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, app.service == nil, !app.hasUnread(AppFolder.lists),
            let target = app.targets.first(where: { $0.isExtension && $0.looksLikeService })
        else { return nil }
        return Fault(
            "extension-point-wrong",
            "The extension isn't declared as a notification service extension, so iOS never runs it.",
            ["app: \(target.path) has NSExtensionPointIdentifier \(target.extensionPoint ?? "missing")"],
            do: "Set NSExtensionPointIdentifier to \(AppFolder.servicePoint) in the extension's Info.plist.",
            hides: ["extension-missing"], explains: [.noPush])
    }

    private static func extensionMissing(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, app.service == nil, !app.targets.isEmpty, !app.hasUnread(AppFolder.lists) else {
            return nil
        }
        return Fault(
            "extension-missing", "The app has no notification service extension, so nothing opens its pushes.",
            app.targets.prefix(4).map { "app: \($0.path)" + ($0.extensionPoint.map { ", \($0)" } ?? "") },
            do: "Add a target Notification Service Extension, and embed it in the app (Embed Foundation Extensions).",
            hides: ["app-group-missing"], explains: [.noPush])
    }

    private static func notEmbedded(_ evidence: Evidence) -> Fault? {
        guard let service = evidence.app?.service, service.isEmbedded == false else { return nil }
        return Fault(
            "extension-not-embedded", "The app doesn't contain the extension, so iOS never runs it.",
            ["app: no target of the project embeds the extension of \(service.path)"],
            do:
                "Select the app's target in Xcode, open General, and add the extension to Frameworks, Libraries, and "
                + "Embedded Content (Build Phases, Embed Foundation Extensions).", explains: [.noPush])
    }

    private static func extensionIdentifier(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, let own = app.app?.identifier, let service = app.service?.identifier,
            !service.hasPrefix(own + ".")
        else { return nil }
        return Fault(
            "extension-identifier-wrong",
            "The extension's bundle identifier doesn't begin with the app's and a dot, so iOS doesn't install it.",
            ["app: the app is \(own), the extension is \(service)"],
            do: "Name the extension \(own).NotificationService or similar.", explains: [.noPush])
    }

    private static func deploymentTarget(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, let service = app.service, let needed = service.minimumSystem,
            let own = app.app?.minimumSystem, isNewer(needed, than: own)
        else { return nil }
        return Fault(
            "extension-deployment-target",
            "The extension needs a newer system than the app. On older devices the app runs, but iOS never runs the "
                + "extension.",
            ["app: the app needs \(own)", "app: the extension needs \(needed), in \(service.path)"],
            do: "Set the extension's Minimum Deployments to \(own), that of the app.", explains: [.noPush])
    }

    static func isNewer(_ version: String, than other: String) -> Bool {
        func numbers(_ text: String) -> [Int] { text.split(separator: ".").map { Int($0) ?? 0 } }
        let (left, right) = (numbers(version), numbers(other))
        for index in 0..<max(left.count, right.count) {
            let (one, two) = (index < left.count ? left[index] : 0, index < right.count ? right[index] : 0)
            if one != two { return one > two }
        }
        return false
    }

    private static func principalClass(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, let service = app.service else { return nil }
        guard let name = service.principalClass, !name.isEmpty else {
            return Fault(
                "principal-class-missing", "The extension's Info.plist doesn't name its class, so iOS can't run it.",
                ["app: \(service.path) has no NSExtensionPrincipalClass"],
                do:
                    "Set NSExtensionPrincipalClass to $(PRODUCT_MODULE_NAME).NotificationService, the name of your "
                    + "class.", explains: [.noPush])
        }
        guard !name.contains(".") else { return nil }
        let isSwift = app.sources.services.contains { $0.name == name } && !app.sources.objectiveC.contains(name)
        return Fault(
            isSwift ? .error : .warning, "principal-class-without-module",
            "The name of the extension's class has no module. iOS finds a Swift class only with it"
                + (isSwift ? "." : ", unless the class has an @objc name."),
            ["app: \(service.path) has NSExtensionPrincipalClass \(name)"],
            do: "Write $(PRODUCT_MODULE_NAME).\(name).", explains: [.noPush])
    }

    /// Info.plist names a class that no Swift file declares, and a file declares another class of a notification service.
    private static func classRenamed(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, let service = app.service,
            let name = service.principalClass?.split(separator: ".").last.map(String.init), !name.contains("$"),
            !app.sources.all.contains(name), !app.hasUnread([".swift"]), let found = app.sources.services.first
        else { return nil }
        return Fault(
            "principal-class-unknown",
            "The extension's Info.plist names a class that doesn't exist, so iOS can't run it.",
            [
                "app: \(service.path) has NSExtensionPrincipalClass \(service.principalClass ?? "")",
                "app: \(found.path) declares the class \(found.name)",
            ],
            do: "Set NSExtensionPrincipalClass to $(PRODUCT_MODULE_NAME).\(found.name).",
            hides: ["principal-class-without-module"], explains: [.noPush])
    }

    /// Names of files alone don't show which target has the entitlements.
    private static func severity(_ app: AppFolder) -> Fault.Severity {
        let (own, service) = (app.appEntitlements, app.serviceEntitlements)
        let isComplete = !own.isEmpty && !service.isEmpty
        return (isComplete ? own + service : app.entitlements).contains(where: \.isGuessed) ? .warning : .error
    }

    /// The consequence of a missing group, if the files show that it is missing.
    private static func unentitled(_ app: AppFolder) -> [String] {
        severity(app) == .error ? ["key-storage-not-entitled"] : []
    }

    /// What an extension that can't reach the app's folder or keys does.
    private static let unreached: [Symptom] = [.noPush, .failure(.unknownKey), .failure(.internalError)]

    private static func pushEntitlement(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, !app.isProduct, !app.appEntitlements.isEmpty,
            app.appEntitlements.allSatisfy({ $0.environment == nil }), !app.hasUnread(AppFolder.lists)
        else { return nil }
        return Fault(
            severity(app), "push-entitlement-missing",
            "The app has no entitlement for pushes, so it gets no device token.",
            app.appEntitlements.map { "app: \($0.path) has no aps-environment" },
            do: "Add the capability Push Notifications to the app target.", explains: [.noPush])
    }

    private static func appGroup(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, !app.targets.isEmpty || app.entitlements.count > 1 else { return nil }
        // The entitlements of a product are in its signature; without files there is nothing to see.
        if app.isProduct, app.entitlements.isEmpty { return nil }
        let (own, service) = (app.appEntitlements, app.serviceEntitlements)
        if own.contains(where: { !$0.keychainGroups.isEmpty }), own.allSatisfy({ $0.appGroups.isEmpty }),
            service.allSatisfy({ $0.appGroups.isEmpty }),
            !keychainGroups(own).isDisjoint(with: keychainGroups(service))
        {
            return nil
        }
        let advice =
            "Add the same app group to both targets, app and extension, in Xcode under Signing & Capabilities, and "
            + "use exactly that name in AppGroup."
        let hidden = ["keychain-groups-differ"] + unentitled(app)
        func missing(_ place: String, _ list: [AppFolder.Entitlements]) -> String {
            let files = list.map(\.path).joined(separator: ", ")
            return files.isEmpty
                ? "app: the \(place) has no file of entitlements"
                : "app: \(files) has no com.apple.security.application-groups"
        }
        let (ownLacks, serviceLacks) = (
            own.allSatisfy { $0.appGroups.isEmpty }, service.allSatisfy { $0.appGroups.isEmpty }
        )
        if ownLacks || serviceLacks {
            guard !app.hasUnread(AppFolder.lists) else { return nil }
            let places =
                ownLacks && serviceLacks
                ? "Neither the app nor the extension has"
                : ownLacks ? "The app doesn't have" : "The extension doesn't have"
            return Fault(
                severity(app), "app-group-missing",
                "\(places) an app group. Without a common group the extension finds neither the keys nor the settings "
                    + "of the app.",
                (ownLacks ? [missing("app", own)] : []) + (serviceLacks ? [missing("extension", service)] : []),
                do: advice, hides: hidden, explains: unreached)
        }
        func shares(_ one: AppFolder.Entitlements, _ others: [AppFolder.Entitlements]) -> Bool {
            others.contains { !Set($0.appGroups).isDisjoint(with: one.appGroups) }
        }
        guard !(own.allSatisfy { shares($0, service) } && service.allSatisfy { shares($0, own) }) else { return nil }
        return Fault(
            severity(app), "app-groups-differ",
            "App and extension have different app groups, so the extension finds neither the keys nor the settings of "
                + "the app.",
            (own + service).map {
                "app: \($0.path): \($0.appGroups.isEmpty ? "none" : $0.appGroups.joined(separator: ", "))"
            },
            do: advice, hides: hidden, explains: unreached)
    }

    private static func keychainGroups(_ entitlements: [AppFolder.Entitlements]) -> Set<String> {
        Set(entitlements.flatMap(\.keychainGroups))
    }

    /// Keys are in the app group's own keychain group unless the app names another, so this may be intended.
    private static func keychainGroup(_ evidence: Evidence) -> Fault? {
        guard let app = evidence.app, !app.hasUnread(AppFolder.lists) else { return nil }
        let (own, service) = (app.appEntitlements, app.serviceEntitlements)
        let (left, right) = (keychainGroups(own), keychainGroups(service))
        guard !(left.isEmpty && right.isEmpty), left.isDisjoint(with: right) else { return nil }
        let hasFailed =
            evidence.report?.keyStorage?.error == "notEntitled" || !evidence.seen(.internalError).isEmpty
        return Fault(
            hasFailed || own.allSatisfy { $0.appGroups.isEmpty } ? severity(app) : .warning,
            "keychain-groups-differ",
            left.isEmpty || right.isEmpty
                ? "The \(left.isEmpty ? "app" : "extension") lacks the keychain group of the "
                    + "\(left.isEmpty ? "extension" : "app"). If the device's key is in that group, the extension "
                    + "can't read it."
                : "App and extension have different keychain groups. If the device's key is in one of them, the "
                    + "extension can't read it.",
            (own + service).map {
                "app: \($0.path): \($0.keychainGroups.isEmpty ? "no keychain-access-groups" : $0.keychainGroups.joined(separator: ", "))"
            },
            do:
                "Add the same group to Keychain Sharing of both targets, or keep the keys in the app group, which "
                + "needs no keychain group.", hides: unentitled(app), explains: unreached)
    }
}
