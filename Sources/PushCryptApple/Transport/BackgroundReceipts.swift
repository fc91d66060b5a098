#if canImport(Darwin)
public import Foundation
public import PushCryptExtension
import PushCryptPrimitives

/// Posts receipts in a background session of the system, which completes the posts although the extension is suspended or
/// ended.
///
/// ```
/// extension   writes the body to a file of the app group, and hands it over with the receipt's id
/// system      posts the file
/// extension, or the app in `handleEvents`   removes the file, and the receipt once the server has accepted it
/// ```
/// ``shared(_:)`` returns the object of the process. Only one process can use the session at a time: an extension that receives
/// a push while the app handles events fails to hand over its receipt, which stays in the store.
///
/// The system follows redirects of such a session without asking. A receipt whose post was redirected isn't accepted.
public final class BackgroundReceipts: NSObject, BackgroundTransport, URLSessionTaskDelegate, Sendable {
    private let identifier: String
    private let appGroup: String
    private let folder: URL
    private let store: SharedStore
    private let policy = TransferPolicy()
    private let session = Locked<URLSession?>(nil)
    private let whenHandled = Locked<Handler?>(nil)

    // Unchecked: the system's handler is called on the main thread, as it requires, but its type isn't Sendable.
    private struct Handler: @unchecked Sendable {
        let call: () -> Void
    }

    private static let objects = Locked<[AppGroup: BackgroundReceipts]>([:])

    /// The background session of an app group in this process, the same for each call: the system allows one of a name.
    public static func shared(_ group: AppGroup) -> BackgroundReceipts {
        objects.withLock { objects in
            if let object = objects[group] { return object }
            let object = BackgroundReceipts(group)
            objects[group] = object
            return object
        }
    }

    private init(_ group: AppGroup) {
        appGroup = group.identifier
        folder = URL(fileURLWithPath: group.path(of: "receipts"))
        // An extension's bundle has this suffix.
        store = group.store(Bundle.main.bundlePath.hasSuffix(".appex") ? .extension : .app)
        identifier = "pushcrypt.receipts." + appGroup
        super.init()
    }

    /// Writes the body to a file and hands it over. Throws `TransferError` with `addressRefused` or `noSpace`.
    public func begin(_ post: HTTPPost, receiptID: String) throws(TransferError) {
        try policy.check(post.address)
        guard let url = URL(string: post.address) else {
            throw TransferError(.addressRefused, "the address is not a URL")
        }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue(post.contentType, forHTTPHeaderField: "Content-Type")
        if let userAgent = post.userAgent { request.setValue(userAgent, forHTTPHeaderField: "User-Agent") }
        let name = UUID().uuidString
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            #if os(macOS)
            let options: Data.WritingOptions = .atomic
            #else
            let options: Data.WritingOptions = [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
            #endif
            try Data(post.body).write(to: file(name), options: options)
        } catch {
            throw TransferError(.noSpace, "the body of the receipt can't be written")
        }
        let task = connected().uploadTask(with: request, fromFile: file(name))
        task.taskDescription = "\(name) \(receiptID)"
        task.resume()
    }

    /// Handles the completion of posts of an extension that isn't running. Call it in the app's
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// - Parameter completion: the system's completion handler, called on the main thread.
    /// - Returns: false if the identifier is that of another session; then `completion` isn't called.
    public func handleEvents(forSession identifier: String, completion: @escaping () -> Void) -> Bool {
        guard identifier == self.identifier else { return false }
        let handler = Handler(call: completion)
        whenHandled.withLock { $0 = handler }
        _ = connected()
        return true
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private func connected() -> URLSession {
        session.withLock { [self] session in
            if let session { return session }
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.sharedContainerIdentifier = appGroup
            configuration.sessionSendsLaunchEvents = true
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
            let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            session = made
            return made
        }
    }

    /// Removes the file, and the receipt if the server has accepted it.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let names = (task.taskDescription ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard names.count == 2, UUID(uuidString: names[0]) != nil else { return }
        try? FileManager.default.removeItem(at: file(names[0]))
        guard error == nil, let status = (task.response as? HTTPURLResponse)?.statusCode, (200..<300).contains(status),
            task.currentRequest?.url == task.originalRequest?.url
        else { return }
        try? store.removeReceipt(names[1])
    }

    /// Tells the system that all events were handled, and leaves the session to the extension.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        guard let handler = whenHandled.withLock({ $0.take() }) else { return }
        self.session.withLock { $0 = nil }
        session.finishTasksAndInvalidate()
        Task { @MainActor in handler.call() }
    }
}
#endif
