/// The style of a simulated page. Every colour is for light and dark; text has a contrast of at least 4.5.
enum PageStyle {
    static let css = page + payload + phone + banner

    private static let page = """

        :root {
          color-scheme: light dark;
          --page: light-dark(#f2f2f7, #000000); --card: light-dark(#ffffff, #1c1c1e);
          --text: light-dark(#1c1c1e, #f2f2f7); --muted: light-dark(#5c5c63, #a6a6ad);
          --line: light-dark(#d1d1d6, #3a3a3c); --accent: light-dark(#0058c7, #6cb4ff);
          --good: light-dark(#1a6b34, #4cd06f); --bad: light-dark(#b3201a, #ff8077);
        }
        * { box-sizing: border-box; margin: 0; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        body {
          max-width: 1000px; margin: auto; padding: 24px 20px 40px; background: var(--page); color: var(--text);
          font: 16px/1.45 -apple-system, "SF Pro Text", Inter, system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
          overflow-wrap: anywhere; -webkit-text-size-adjust: 100%;
        }
        header { display: flex; flex-wrap: wrap; align-items: center; gap: 12px 16px; }
        .headline { flex: 1 1 200px; }
        .name { display: inline-block; max-width: 100%; vertical-align: bottom; }
        h1 { font-size: 26px; line-height: 1.2; letter-spacing: -0.01em; }
        h2 { font-size: 20px; }
        .facts, .explanation, footer { color: var(--muted); font-size: 14px; }
        section { margin-top: 28px; }
        .explanation { margin: 2px 0 20px; }
        .card { margin-top: 16px; padding: 18px 20px; border-radius: 18px; background: var(--card); }
        .card h3 { display: flex; flex-wrap: wrap; gap: 2px 12px; margin-bottom: 12px; font-size: 16px; }
        .verdict { display: block; font-weight: 500; }
        .verdict.good { color: var(--good); }
        .verdict.bad { color: var(--bad); }
        .verdicts { max-width: 760px; margin: 24px auto 0; padding-left: 28px; }
        .verdicts li { margin-top: 4px; }
        footer { margin-top: 36px; }

        """

    private static let payload = """

        .json {
          padding: 14px 16px; border-radius: 12px; background: light-dark(#f6f6f9, #111113); tab-size: 2;
          font: 13px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre-wrap;
        }
        .json .name { display: inline; color: var(--muted); }
        .json .string { color: light-dark(#0a5c36, #7fe0a8); }
        .json .sealed {
          border-radius: 4px; background: light-dark(#ece6fa, #2a2140); color: light-dark(#5b3fa6, #c3aef5);
          word-break: break-all;
        }
        .budget { margin-bottom: 18px; }
        .budget figcaption { font-weight: 600; font-size: 14px; }
        .bar {
          display: block; width: 100%; height: 26px; margin: 8px 0 10px; border-radius: 8px;
          background: light-dark(#e5e5ea, #3a3a3c);
        }
        .placeholder { --part: light-dark(#c77700, #ffb340); }
        .envelope { --part: light-dark(#0058c7, #6cb4ff); }
        .ciphertext { --part: light-dark(#6b45c6, #b79bff); }
        .padding { --part: light-dark(#a9a2c9, #6a5f94); }
        .free { --part: light-dark(#e5e5ea, #3a3a3c); }
        .part { fill: var(--part); stroke: var(--card); stroke-width: 1px; vector-effect: non-scaling-stroke; }
        table { border-collapse: collapse; font-size: 14px; }
        th, td {
          padding: 3px 14px 3px 0; text-align: left; font-weight: 400; vertical-align: top; overflow-wrap: break-word;
        }
        th { white-space: nowrap; }
        th:last-child, td:last-child { padding-right: 0; }
        @media (max-width: 359px) { th, td { padding-right: 9px; } }
        td { color: var(--muted); }
        thead th { color: var(--muted); font-size: 13px; }
        .count { color: var(--text); text-align: right; font-variant-numeric: tabular-nums; }
        .key {
          display: inline-block; width: 12px; height: 12px; margin-right: 8px; border-radius: 3px; background: var(--part);
          border: 1px solid light-dark(#00000040, #ffffff40); vertical-align: -1px;
        }

        """

    private static let phone = """

        .phones { display: flex; flex-wrap: wrap; justify-content: center; gap: 36px 56px; }
        .device { width: 376px; max-width: 100%; }
        .device figcaption { margin-bottom: 12px; text-align: center; font-weight: 600; }
        .phone {
          padding: 9px; border-radius: 58px; background: #1d1d20;
          box-shadow: 0 0 0 2px light-dark(#8e8e93, #48484a), 0 18px 44px light-dark(#1d1d2040, #00000080);
        }
        .screen {
          display: flex; flex-direction: column; min-height: 752px; padding: 12px 10px 8px; border-radius: 49px;
          overflow: hidden; color: #ffffff; text-align: center;
          background:
            radial-gradient(120% 60% at 15% 20%, light-dark(#2b6cb0, #14304f), transparent 70%),
            radial-gradient(110% 60% at 95% 55%, light-dark(#8a3f86, #3a1c3f), transparent 70%),
            linear-gradient(170deg, light-dark(#1f4f86, #0b1626), light-dark(#5a3d8f, #1d1534) 55%,
              light-dark(#a3455c, #33151f));
        }
        .island { width: 104px; height: 30px; margin: 0 auto 28px; border-radius: 15px; background: #000000; }
        .date { font-size: 19px; font-weight: 600; }
        .clock {
          font-size: min(88px, 23vw); font-weight: 600; line-height: 1.05; white-space: nowrap; letter-spacing: -0.03em; font-variant-numeric: tabular-nums;
        }
        .list { display: flex; flex-direction: column; gap: 8px; margin-top: auto; padding: 48px 0 22px; }
        .home { width: 128px; height: 5px; margin: 0 auto; border-radius: 3px; background: #ffffff; }

        """

    private static let banner = """

        .banner, summary {
          background: light-dark(#f6f4f8e6, #2a2a30e6);
          color: light-dark(#1c1c1e, #f5f5f7);
          -webkit-backdrop-filter: blur(24px) saturate(1.6); backdrop-filter: blur(24px) saturate(1.6);
        }
        .banner {
          display: grid; grid-template-columns: 38px minmax(0, 1fr) auto; gap: 1px 10px; align-items: start;
          padding: 11px 14px 13px; border-radius: 24px; font-size: 15px; line-height: 1.3; text-align: start;
        }
        .icon {
          display: grid; place-items: center; width: 38px; height: 38px; border-radius: 9px; overflow: hidden;
          background: linear-gradient(160deg, #1f74e0, #0a3f94); color: #ffffff; font-size: 21px; font-weight: 600;
          line-height: 1;
        }
        header .icon { width: 52px; height: 52px; border-radius: 13px; font-size: 28px; }
        .banner .icon { grid-row: 1 / span 2; align-self: center; }
        .head { grid-column: 2 / -1; display: flex; gap: 10px; font-size: 13px; color: light-dark(#4f4f56, #b8b8c0); }
        .app { flex: 1; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; text-align: left; }
        .text { grid-column: 2; }
        .text > :not(.sensitive) {
          display: -webkit-box; -webkit-box-orient: vertical; overflow: hidden; white-space: pre-line;
        }
        .sensitive {
          color: light-dark(#4f4f56, #b8b8c0); font-size: 12px; font-weight: 600; letter-spacing: 0.02em;
          text-transform: uppercase;
        }
        .title, .subtitle { font-size: 15px; font-weight: 600; }
        .text > .title { -webkit-line-clamp: 2; }
        .text > .subtitle { -webkit-line-clamp: 1; font-weight: 500; }
        .text > .body { -webkit-line-clamp: 4; }
        .thumbnail { grid-column: 3; width: 42px; height: 42px; margin-top: 2px; border-radius: 8px; object-fit: cover; }
        .file { grid-column: 2; font-size: 13px; }
        summary {
          width: calc(100% - 32px); margin: 2px auto 0; padding: 3px 14px 5px; border-radius: 0 0 17px 17px;
          background: light-dark(#e9e4eed9, #2a2a30bf); font-size: 13px; cursor: pointer; list-style: none;
        }
        summary::-webkit-details-marker { display: none; }
        .deep:not([open])::after {
          content: ""; display: block; width: calc(100% - 64px); height: 8px; margin: 2px auto 0;
          border-radius: 0 0 16px 16px; background: light-dark(#e9e4ee99, #2a2a3099);
        }
        .opened, [open] .closed { display: none; }
        [open] .opened { display: inline; }
        .others { display: grid; gap: 8px; margin-top: 8px; }

        """
}
