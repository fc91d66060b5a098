import SwiftUI

@main struct SampleApp: App {
    @UIApplicationDelegateAdaptor private var delegate: AppDelegate

    var body: some Scene {
        WindowGroup { ContentView(pushes: delegate.pushes) }
    }
}
