import NIOCore
import NIOHTTP2

/// What the stand-in knows about one connection. Only its event loop uses it.
final class ConnectionState {
    private let channel: any Channel
    private let streamLimit: Int
    /// The streams that the client has begun and that haven't ended.
    private var streamCount = 0
    private var openStreamCount = 0
    private var lastStreamID = HTTP2StreamID.rootStream
    private var isAuthenticated = false
    /// The last stream that is answered after GOAWAY.
    private var finalStreamID: HTTP2StreamID?

    init(_ channel: any Channel, streamLimit: Int) {
        self.channel = channel
        self.streamLimit = streamLimit
    }

    /// - Returns: how many streams there are now.
    func streamBegan() -> Int {
        streamCount += 1
        return streamCount
    }

    func streamEnded() { streamCount -= 1 }

    /// - Returns: whether the stream is answered.
    func open(_ id: HTTP2StreamID) -> Bool {
        openStreamCount += 1
        if let finalStreamID, id > finalStreamID { return false }
        lastStreamID = max(lastStreamID, id)
        return true
    }

    func close() {
        openStreamCount -= 1
        closeIfDone()
    }

    /// "Establishing a connection to APNs": with a provider token a connection has one stream until a request had a valid
    /// token. The number after that isn't documented.
    func authenticate() {
        guard !isAuthenticated else { return }
        isAuthenticated = true
        write(.settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: streamLimit)])))
    }

    /// RFC 9113 section 6.8. The reason is in the frame's data.
    func goAway() {
        guard finalStreamID == nil else { return }
        finalStreamID = lastStreamID
        write(
            .goAway(
                lastStreamID: lastStreamID, errorCode: .noError,
                opaqueData: ByteBuffer(string: #"{"reason":"Shutdown"}"#)))
        closeIfDone()
    }

    private func closeIfDone() {
        if finalStreamID != nil, openStreamCount == 0 { channel.close(promise: nil) }
    }

    private func write(_ payload: HTTP2Frame.FramePayload) {
        channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
    }
}
