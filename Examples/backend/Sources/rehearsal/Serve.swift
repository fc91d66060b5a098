import ArgumentParser
import AsyncHTTPClient
import Foundation
import PushBackend

/// Starts everything and runs a program against it, for tests of the interface.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a program with PUSH_URL, PUSH_USER_TOKEN and PUSH_SERVICE_TOKEN in its environment.")

    @OptionGroup var tools: Tools
    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.") var program: [String] = []

    func run() async throws {
        let arguments = program.first == "--" ? Array(program.dropFirst()) : program
        guard let path = arguments.first else { throw ValidationError("a program is required") }
        let scene = try await Scene(tools)
        let started: (process: ChildProcess, port: Int)
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
                return await child.ended
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
