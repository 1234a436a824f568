/**
 * CSS rules for the markup of `passSections`. They are in a separate file so that a page can use them before
 * it loads the code that compares programs.
 */
export const passStyle = `pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; max-height: none; }
:root { --added: #d7f5dd; --removed: #ffdfe0; --added-word: #8ce0a0; --removed-word: #ffb0b4; }
@media (prefers-color-scheme: dark) { :root { --added: #12361f; --removed: #451a1e; --added-word: #1f6b39; --removed-word: #8a2b33; } }
ins, del { text-decoration: none; }
ins { background: var(--added); } del { background: var(--removed); }
ins::before { content: "+ "; } del::before { content: "- "; } pre > span::before { content: "  "; }
pre > * { display: block; padding-left: 4ch; text-indent: -4ch; }
ins mark { background: var(--added-word); color: inherit; } del mark { background: var(--removed-word); color: inherit; }
summary { cursor: pointer; }
`;
