import Foundation
import XCTest
import os

/// Works the sample, and reads what the Simulator shows. `check` runs these tests; Xcode can run the first one.
///
/// The class is nonisolated, as XCTestCase is, also in a target whose default isolation is `MainActor`.
nonisolated final class SampleUITests: XCTestCase {
    @MainActor private var springboard: XCUIApplication { XCUIApplication(bundleIdentifier: "com.apple.springboard") }

    @MainActor func testSignsIn() {
        signIn()
    }

    /// `SHOWN` and `HIDDEN` in the environment have the texts, one a line.
    @MainActor func testShows() throws {
        let environment = ProcessInfo.processInfo.environment
        guard let shown = environment["SHOWN"] else { throw XCTSkip("check sets SHOWN") }
        let hidden = (environment["HIDDEN"] ?? "").split(separator: "\n").map(String.init)
        signIn()
        // `check` waits for this line in the system's log before it pushes.
        Logger(subsystem: "SampleUITests", category: "check").notice("ready")

        var missing = shown.split(separator: "\n").map(String.init)
        let end = ContinuousClock.now + .seconds(120)
        repeat {
            // The banner of a push leaves after some seconds.
            missing.removeAll { isOnScreen($0) }
            openNotificationCentre()
            missing.removeAll { isOnScreen($0) }
            for text in hidden where isOnScreen(text) { XCTFail("'\(text)' is on the screen") }
            XCUIDevice.shared.press(.home)
        } while !missing.isEmpty && ContinuousClock.now < end
        if !missing.isEmpty { XCTFail("\(missing) aren't on the screen: \(springboard.debugDescription)") }
    }

    /// Signs in as a new device: signing out removes the keys and the notifications of the test before. It ends with the app in
    /// the background.
    @MainActor private func signIn() {
        continueAfterFailure = false
        let app = XCUIApplication()
        app.launch()
        app.buttons["Allow notifications"].tap()
        let allow = springboard.buttons["Allow"]
        if allow.waitForExistence(timeout: 5) { allow.tap() }
        expect("Notifications are allowed", in: app)
        app.buttons["Sign out"].tap()
        expect("Signed out", in: app)
        // The device token comes a while after the launch.
        var attempts = 10
        repeat {
            app.buttons["Sign in"].tap()
            attempts -= 1
        } while !app.staticTexts["Registered"].waitForExistence(timeout: 5) && attempts > 0
        expect("Registered", in: app)
        XCUIDevice.shared.press(.home)
        XCTAssertTrue(springboard.wait(for: .runningForeground, timeout: 10), "the app is still in the foreground")
    }

    @MainActor private func expect(_ status: String, in app: XCUIApplication) {
        let text = app.staticTexts[status]
        if !text.waitForExistence(timeout: 10) { XCTFail("the status isn't '\(status)': \(app.debugDescription)") }
    }

    @MainActor private func isOnScreen(_ text: String) -> Bool {
        // A notification is one element, whose label has all its texts.
        let predicate = NSPredicate(format: "label CONTAINS %@", argumentArray: [text])
        return springboard.descendants(matching: .any).matching(predicate).firstMatch.exists
    }

    @MainActor private func openNotificationCentre() {
        drag(fromHeight: 0.01, to: 0.8)
        // Older notifications are below the edge of the screen.
        drag(fromHeight: 0.7, to: 0.4)
        _ = springboard.buttons["ListCell"].firstMatch.waitForExistence(timeout: 3)
    }

    @MainActor private func drag(fromHeight start: Double, to end: Double) {
        let from = springboard.coordinate(withNormalizedOffset: CGVector(dx: 0.3, dy: start))
        let to = springboard.coordinate(withNormalizedOffset: CGVector(dx: 0.3, dy: end))
        from.press(forDuration: 0.1, thenDragTo: to)
    }
}
