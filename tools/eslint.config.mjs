// The rules of the viewer's JavaScript. Names that are not defined are tsc's business; in which
// direction modules import, tools/check_modules.py's.
import js from "@eslint/js";

const forms = [
  // gviz.app.components.web_modules joins modules into one script: these are the forms it knows.
  ["ExportDefaultDeclaration", "export by name"],
  ["ExportAllDeclaration", "import and export by name"],
  ["ExportNamedDeclaration[specifiers.length>0]", "export where it is declared"],
  ["ExportNamedDeclaration > VariableDeclaration[kind!='const']", "an export is a constant"],
  ["ExportNamedDeclaration > VariableDeclaration > VariableDeclarator[id.type!='Identifier']", "export one name"],
  ["ExportNamedDeclaration > VariableDeclaration[declarations.length>1]", "export one name"],
  ["ImportDeclaration[specifiers.length=0]", "a module does nothing when it is imported: call it"],
  ["ImportDefaultSpecifier", "import by name"],
  ["ImportExpression", "import at the top"],
].map(([selector, message]) => ({ selector, message }));

const idle = {
  selector: "Program > ExpressionStatement",
  message: "a module does nothing when it is imported: put it into a function",
};

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-implicit-globals": "error",
      // A number that is not one differs from itself.
      "no-self-compare": "off",
      "no-shadow": ["error", { hoist: "all" }],
      "no-undef": "off",
      "no-unused-vars": ["error", { caughtErrors: "none", argsIgnorePattern: "^_" }],
      "no-useless-assignment": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "off",
    },
  },
  { files: ["assets/web/**"], rules: { "no-restricted-syntax": ["error", ...forms, idle] } },
  // What begins: it calls the others.
  { files: ["assets/web/*/main.js"], rules: { "no-restricted-syntax": ["error", ...forms] } },
  // Runs before anything is drawn, as a script of its own.
  {
    files: ["assets/web/early/theme.js"],
    languageOptions: { sourceType: "script" },
    rules: { "no-restricted-syntax": "off" },
  },
];
