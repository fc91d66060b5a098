import ArgumentParser
import AsyncHTTPClient
import Foundation
import PushBackend
import PushCryptNotifications
import PushCryptSimulator

/// Starts everything and runs a program against it, for tests of the interface.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a program with PUSH_URL, PUSH_USER_TOKEN and PUSH_SERVICE_TOKEN in its environment.",
        discussion: """
            PUSH_USER_TOKEN is that of the user zoe, whose phone is registered. Its lock screen is printed after each \
            push. The program has no terminal: run a script, such as with -- bash script.sh. by-hand.md starts each part \
            by itself.
            """)

    @OptionGroup var tools: Tools
    @Argument(parsing: .captureForPassthrough, help: "The program, which is looked up in PATH, and its arguments.")
    var program: [String] = []

    func run() async throws {
        let arguments = program.first == "--" ? Array(program.dropFirst()) : program
        guard let path = arguments.first else { throw ValidationError("a program is required") }
        let scene = try await Scene(tools) { phone, _ in
            let shown = phone.device.center.deliveredNotifications.last?.request.content
            print(ScreenText.draw(("Lock screen of \(phone.user), the latest", shown)))
        }
        let started: (process: ChildProcess, port: UInt16)
        do { started = try await scene.startService() } catch {
            await scene.end()
            throw error
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let backend = BackendClient(
            client: client, base: "http://127.0.0.1:\(started.port)", serviceToken: scene.serviceToken)
        let status = await Task { () -> Int32 in
            do {
                let phone = try await Phone("zoe", .production, scene: scene, backend: backend)
                let token = scene.userTokens.token(for: phone.user, until: Int64(Date().timeIntervalSince1970) + 86_400)
                setenv("PUSH_URL", backend.base, 1)
                setenv("PUSH_USER_TOKEN", token, 1)
                setenv("PUSH_SERVICE_TOKEN", scene.serviceToken, 1)
                let child = try ChildProcess(path, Array(arguments.dropFirst()), log: .standardOutput)
                let status = await child.ended
                // What was pushed last appears too.
                _ = try await waitForEnd(of: [], backend, scene, [phone])
                return status
            } catch {
                print("\(error)")
                return 1
            }
        }.value
        let serviceStatus = await started.process.end(SIGTERM)
        try? await client.shutdown()
        await scene.end()
        guard status == 0, serviceStatus == 0 else { throw ExitCode(status == 0 ? 1 : status) }
    }
}
