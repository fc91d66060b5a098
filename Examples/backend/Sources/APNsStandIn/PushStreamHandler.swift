import NIOCore
import NIOHPACK
import NIOHTTP2

/// Answers one request, which is one stream.
final class PushStreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let standIn: APNsStandIn
    private let connection: ConnectionState
    private var headers: HPACKHeaders?
    private var body: [UInt8] = []
    private var isOversized = false
    private var isCounted = false
    private var isAnswered = false

    init(_ standIn: APNsStandIn, _ connection: ConnectionState) {
        self.standIn = standIn
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) { standIn.count(streams: connection.streamBegan()) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            // APNs ignores trailers.
            if headers == nil { headers = frame.headers }
            if frame.endStream { answer(context) }
        case .data(let frame):
            guard case .byteBuffer(let bytes) = frame.data else { return }
            // Once the payload is too large, its further bytes aren't kept.
            isOversized = isOversized || body.count + bytes.readableBytes > RequestCheck.largestPayloadInBytes
            if !isOversized { body += bytes.readableBytesView }
            if frame.endStream { answer(context) }
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.streamEnded()
        if isCounted { connection.close() }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ context: ChannelHandlerContext) {
        guard !isAnswered, let headers else { return }
        isAnswered = true
        isCounted = true
        guard let id = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID),
            connection.open(id)
        else { return }
        let request = APNsStandIn.Request(headers: headers, body: body, isOversized: isOversized)
        switch standIn.respond(to: request) {
        case .control(let status, let json): respond(context, status: status, id: nil, json: json)
        case .answer(let answer):
            if answer.isAuthenticated { connection.authenticate() }
            follow(answer, context)
        }
    }

    private func follow(_ answer: APNsStandIn.Answer, _ context: ChannelHandlerContext) {
        switch answer.fault?.kind {
        case nil, .answer: respond(context, answer)
        // RFC 9113 section 8.7: REFUSED_STREAM promises that nothing was processed.
        case .reset(let isAccepted): reset(context, isAccepted ? .internalError : .refusedStream)
        case .cutAnswer:
            context.write(wrapOutboundOut(.headers(.init(headers: [":status": "200"]))), promise: nil)
            reset(context, .internalError)
        case .close: context.channel.parent?.close(promise: nil)
        case .goAway:
            respond(context, answer)
            connection.goAway()
        case .delay(let time):
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: time) { bound.value.0.respond(bound.value.1, answer) }
        case .silence: break
        }
    }

    private func reset(_ context: ChannelHandlerContext, _ code: HTTP2ErrorCode) {
        context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
    }

    private func respond(_ context: ChannelHandlerContext, _ answer: APNsStandIn.Answer) {
        respond(
            context, status: answer.refusal?.status ?? 200, id: answer.id, json: answer.refusal?.json,
            retryAfter: answer.refusal?.retryAfterInSeconds)
    }

    private func respond(
        _ context: ChannelHandlerContext, status: Int, id: String?, json: String?, retryAfter: Int? = nil
    ) {
        var headers = HPACKHeaders([(":status", "\(status)")])
        if let id { headers.add(name: "apns-id", value: id) }
        if let retryAfter { headers.add(name: "retry-after", value: "\(retryAfter)") }
        if let json {
            headers.add(name: "content-type", value: "application/json")
            context.write(wrapOutboundOut(.headers(.init(headers: headers))), promise: nil)
            let body = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer(string: json)), endStream: true)
            context.writeAndFlush(wrapOutboundOut(.data(body)), promise: nil)
        } else {
            context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: headers, endStream: true))), promise: nil)
        }
    }
}
