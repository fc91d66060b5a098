/// What the property lists of the app's project or product show.
enum AppChecks {
    static let all: [Check] = [unreadable, misconfigured, pushEntitlement, appGroup]

    private static func unreadable(_ facts: Facts) -> Finding? {
        guard let app = facts.app, !app.unreadable.isEmpty else { return nil }
        return Finding(
            .warning, .fileUnreadable,
            "A file isn't a property list, or a file or folder can't be read, so it wasn't examined.",
            app.unreadable.prefix(3).map { "app: \($0)" }, do: "Open it in Xcode and correct it.")
    }

    // MARK: The extension

    /// Why iOS doesn't run the extension; the first reason that the files show.
    private static func misconfigured(_ facts: Facts) -> Finding? {
        guard let app = facts.app, let (seen, advice) = app.service.map({ flaw(of: $0, app) }) ?? noService(app) else {
            return nil
        }
        return Finding(
            .extensionMisconfigured, "iOS doesn't run the app's notification service extension, or there is none.",
            ["app: \(seen)"], do: advice)
    }

    private static func noService(_ app: AppFolder) -> (seen: String, advice: String)? {
        guard !app.targets.isEmpty, app.unreadable.isEmpty else { return nil }
        if let target = app.targets.first(where: { $0.isExtension && $0.looksLikeService }) {
            return (
                "\(target.path) has NSExtensionPointIdentifier \(target.extensionPoint ?? "missing")",
                "Set NSExtensionPointIdentifier to \(AppFolder.servicePoint) in the extension's Info.plist."
            )
        }
        return (
            "no extension among " + app.targets.prefix(4).map(\.path).joined(separator: ", "),
            "Add a target Notification Service Extension, and embed it in the app (Embed Foundation Extensions)."
        )
    }

    private static func flaw(of service: AppFolder.Target, _ app: AppFolder) -> (seen: String, advice: String)? {
        if service.isEmbedded == false {
            return (
                "no target of the project embeds the extension of \(service.path)",
                "Select the app's target in Xcode, open General, and add the extension to Frameworks, Libraries, and "
                    + "Embedded Content (Build Phases, Embed Foundation Extensions)."
            )
        }
        if let own = app.app?.identifier, let name = service.identifier, !name.hasPrefix(own + ".") {
            return (
                "the app is \(own), the extension is \(name): its identifier must begin with the app's and a dot",
                "Name the extension \(own).NotificationService or similar."
            )
        }
        if let own = app.app?.minimumSystem, let needed = service.minimumSystem, isNewer(needed, than: own) {
            return (
                "the app needs the system \(own), and the extension \(needed), in \(service.path)",
                "Set the extension's Minimum Deployments to \(own), that of the app."
            )
        }
        let name = service.principalClass ?? ""
        guard !name.contains(".") else { return nil }
        return (
            "\(service.path) has "
                + (name.isEmpty ? "no NSExtensionPrincipalClass" : "NSExtensionPrincipalClass \(name)")
                + ": iOS finds a Swift class only with its module",
            "Set NSExtensionPrincipalClass to $(PRODUCT_MODULE_NAME).NotificationService, the name of your class."
        )
    }

    private static func isNewer(_ version: String, than other: String) -> Bool {
        func numbers(_ text: String) -> [Int] {
            let numbers = text.split(separator: ".").map { Int($0) ?? 0 }
            return numbers + Array(repeating: 0, count: max(0, 4 - numbers.count))
        }
        return numbers(other).lexicographicallyPrecedes(numbers(version))
    }

    // MARK: The entitlements

    private static func finding(_ cause: String, _ seen: [String], _ advice: String) -> Finding {
        Finding(.entitlementsWrong, cause, seen.map { "app: \($0)" }, do: advice)
    }

    private static func pushEntitlement(_ facts: Facts) -> Finding? {
        guard let app = facts.app, !app.isProduct, app.knowsEntitlements, !app.appEntitlements.isEmpty,
            app.appEntitlements.allSatisfy({ $0.environment == nil })
        else { return nil }
        return finding(
            "The app has no entitlement for pushes, so it gets no device token.",
            app.appEntitlements.map { "\($0.path) has no aps-environment" },
            "Add the capability Push Notifications to the app target.")
    }

    /// Whether each file shares a group with one of the other target.
    private static func share(
        _ one: [AppFolder.Entitlements], _ two: [AppFolder.Entitlements],
        _ groups: (AppFolder.Entitlements) -> [String]
    ) -> Bool {
        func isShared(_ file: AppFolder.Entitlements, _ others: [AppFolder.Entitlements]) -> Bool {
            others.contains { !Set(groups($0)).isDisjoint(with: groups(file)) }
        }
        return !one.isEmpty && !two.isEmpty && one.allSatisfy { isShared($0, two) }
            && two.allSatisfy { isShared($0, one) }
    }

    private static func appGroup(_ facts: Facts) -> Finding? {
        guard let app = facts.app, !app.targets.isEmpty || app.entitlements.count > 1 else { return nil }
        // The entitlements of a product are in its signature; without files there is nothing to see.
        if app.isProduct, app.entitlements.isEmpty { return nil }
        let (own, service) = (app.appEntitlements, app.serviceEntitlements)
        guard !share(own, service, \.appGroups) else { return nil }
        let isMissing = [own, service].contains { $0.allSatisfy(\.appGroups.isEmpty) }
        // Keys can be in a keychain group that both have.
        if isMissing, !app.knowsEntitlements || share(own, service, \.keychainGroups) { return nil }
        let files = [("app", own), ("extension", service)].flatMap { place, files in
            files.isEmpty
                ? ["the \(place) has no file of entitlements"]
                : files.map {
                    "\($0.path): " + ($0.appGroups.isEmpty ? "no app group" : $0.appGroups.joined(separator: ", "))
                }
        }
        return finding(
            "App and extension have no common app group, so the extension finds neither the keys nor the settings "
                + "of the app.",
            files,
            "Add the same app group to both targets, app and extension, in Xcode under Signing & Capabilities, and use "
                + "exactly that name in AppGroup.")
    }
}
