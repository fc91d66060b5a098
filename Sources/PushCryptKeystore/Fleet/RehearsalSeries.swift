/// What happened when, for a picture: a fixed number of intervals, however long the rehearsal is.
package struct RehearsalSeries: Hashable, Sendable {
    /// Of the rehearsal's clock.
    package let period: Range<Int64>
    package let widthInSeconds: Int64
    /// For every key of ``RehearsedRotation/keys``: devices whose first fetch of it fell in the interval.
    package private(set) var firstFetches: [[Int]]
    package private(set) var keyNotFetched: [Int]
    package private(set) var keyExpired: [Int]
    package private(set) var deviceUnseen: [Int]

    package enum Loss: Sendable {
        case keyNotFetched, keyExpired, deviceUnseen
    }

    /// Intervals that may be drawn as one: an activation is never within such a group.
    package static let group = 4
    private static let roughCount: Int64 = 480

    init(_ rotation: RehearsedRotation) {
        let (keys, rotateEvery) = (RehearsedRotation.keys, rotation.rotateEveryInSeconds)
        let (publication, activation) = (rotation.publication(keys.lowerBound), rotation.activation(keys.lowerBound))
        let end = rotation.simulated.upperBound
        let rough = (end - publication) / Self.roughCount
        let group = Int64(Self.group)
        // A whole number of groups per rotation, unless a rotation is shorter than a group.
        let groups = rough > 0 ? rotateEvery / (rough * group) : 0
        widthInSeconds = max(groups > 0 ? rotateEvery / (groups * group) : rough, 1)
        let drawn = widthInSeconds * group
        period = activation - (activation - publication + drawn - 1) / drawn * drawn..<end
        let count = Int((period.upperBound - period.lowerBound + widthInSeconds - 1) / widthInSeconds)
        let zeros = [Int](repeating: 0, count: count)
        firstFetches = keys.map { _ in zeros }
        (keyNotFetched, keyExpired, deviceUnseen) = (zeros, zeros, zeros)
    }

    package var count: Int { keyNotFetched.count }

    package func start(_ index: Int) -> Int64 { period.lowerBound + Int64(index) * widthInSeconds }

    mutating func addFirstFetch(of key: Int, at time: Int64) {
        guard period.contains(time) else { return }
        firstFetches[key - RehearsedRotation.keys.lowerBound][index(time)] += 1
    }

    mutating func add(_ loss: Loss, _ count: Int, at time: Int64) {
        guard count > 0, period.contains(time) else { return }
        add(loss, count, index(time))
    }

    /// Pushes that arrive as they're sealed.
    mutating func add(_ loss: Loss, _ pushes: EvenMoments, in range: Range<Int64>) {
        var rest = range.clamped(to: period)
        while !rest.isEmpty {
            let index = index(rest.lowerBound)
            let end = min(start(index + 1), rest.upperBound)
            add(loss, pushes.count(in: rest.lowerBound..<end), index)
            rest = end..<rest.upperBound
        }
    }

    private mutating func add(_ loss: Loss, _ count: Int, _ index: Int) {
        switch loss {
        case .keyNotFetched: keyNotFetched[index] += count
        case .keyExpired: keyExpired[index] += count
        case .deviceUnseen: deviceUnseen[index] += count
        }
    }

    private func index(_ time: Int64) -> Int { Int((time - period.lowerBound) / widthInSeconds) }

    static func += (left: inout Self, right: Self) {
        func add(_ right: [Int], to left: inout [Int]) {
            for index in left.indices { left[index] += right[index] }
        }
        for key in left.firstFetches.indices { add(right.firstFetches[key], to: &left.firstFetches[key]) }
        add(right.keyNotFetched, to: &left.keyNotFetched)
        add(right.keyExpired, to: &left.keyExpired)
        add(right.deviceUnseen, to: &left.deviceUnseen)
    }
}
