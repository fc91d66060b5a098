extension KeysRehearseTests {
    /// A thousand devices against the standard policy.
    static let transcript = """
        Fleet   1,000 devices; half fetch keys at least every 6h, 99% every 20d; 2% offline at any moment;
                3 pushes a day each; seed 1.
        Policy  rotateEvery 90d, publishLead 7d, overlap 30d, keep 2; a key opens for 90d10m after it
                retired.

        How a new key spreads: devices that hold it, by time since its publication
                1h │████████████▊                                   32%
                6h │█████████████████████████▉                    64.9%
               12h │█████████████████████████████▉                74.8%
                1d │█████████████████████████████████▊            84.5%
                2d │████████████████████████████████████          90.2%
                4d │█████████████████████████████████████▋        94.1%
                7d ▶██████████████████████████████████████▍         96%  the key begins to seal
               14d │███████████████████████████████████████▏        98%
               21d │███████████████████████████████████████▍      98.6%
               30d │███████████████████████████████████████▋      99.1%

        The pushes of three rotations
          sent                                                   810,000       100%
          opened                                                 802,232     99.04%
          lost to the policy: key not fetched yet                  1,463      0.18%
          lost to the policy: key expired                              0         0%
          lost: device fetched nothing for over 30 days            3,509      0.43%
          lost to APNs: device offline for over 30 days            2,796      0.35%

        Losses with other lengths
            length  as publishLead    as overlap *
              none           0.84%           0.23%
                1d           0.53%           0.22%
                3d           0.35%           0.19%
                7d           0.18%          0.086%
               14d           0.07%          0.035%
               21d          0.025%         0.0095%
               30d              0%              0%
          * A retired key always opens for at least 30 days and 10 minutes. Without that rule these
            pushes would be lost.

        The smallest lengths that lose none
          publishLead  28d20h30m       simulated: loses 0; one second less loses 3
          overlap      27d4h33m18s     simulated: loses 0; one second less loses 8

        ✗ This policy loses 0.18% of the pushes: 1,463 of 810,000 would show the placeholder. With
          --publish-lead 29d it would lose none. 0.43% of the pushes are lost with any policy: their
          devices had fetched nothing for over 30 days.

        """
}
