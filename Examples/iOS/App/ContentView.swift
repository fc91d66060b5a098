import PushCryptApple
import SwiftUI

/// Asks for the permission to show notifications, and signs a user in and out.
struct ContentView: View {
    let pushes: PushCrypt
    @State private var status = "Signed out"

    var body: some View {
        VStack(spacing: 24) {
            Text(status).accessibilityIdentifier("status")
            Button("Allow notifications") { Task { await allow() } }
            Button("Sign in") { Task { await signIn() } }
            Button("Sign out") { Task { await signOut() } }
        }
    }

    private func allow() async {
        let isAllowed = try? await SystemNotifications().requestAuthorization([.alert, .sound, .badge])
        status = isAllowed == true ? "Notifications are allowed" : "Notifications aren't allowed"
    }

    private func signIn() async {
        let outcome = await pushes.signIn(as: "test").value
        status = outcome == nil ? "Signed in, not registered yet" : "Registered"
    }

    private func signOut() async {
        do {
            // First, while the user is authenticated.
            try? await Backend.delete(pushes.keyIDs())
            try await pushes.signOut()
            status = "Signed out"
        } catch { status = "Not signed out: \(error)" }
    }
}
