// The truth about a TypeScript repository, by the compiler's language service and checker.
//
//   node typescript_oracle.js COMPILER REPOSITORY < {"files": […], "definitions": […]} > {"names", "uses", …}
//
// A sampled definition gets the references that an editor shows: `findReferences`, which also follows a method
// to the interface that it implements. Every other definition gets the names that the checker resolves to it.
"use strict";
const fs = require("fs");
const path = require("path");

const [compiler, folder] = process.argv.slice(2);
const ts = require(path.resolve(compiler));
const root = fs.realpathSync(folder);
const { files, definitions } = JSON.parse(fs.readFileSync(0, "utf-8"));
const listed = new Set(files);

const relative = (file) => path.relative(root, file).split(path.sep).join("/");
const isListed = (source) => listed.has(relative(source.fileName));

function placeOf(source, position) {
  const { line, character } = source.getLineAndCharacterOfPosition(position);
  return [relative(source.fileName), line + 1, character];
}

// The options of a tsconfig file without what concerns output.
function optionsOf(file) {
  const content = ts.readConfigFile(file, ts.sys.readFile).config ?? {};
  const { options } = ts.parseJsonConfigFileContent(content, ts.sys, path.dirname(file), {}, file);
  for (const name of ["outDir", "rootDir", "types"]) delete options[name];
  const quiet = { noEmit: true, skipLibCheck: true, allowJs: false, composite: false, incremental: false };
  return { target: ts.ScriptTarget.ES2022, ...options, ...quiet, declaration: false };
}

function makeService(options) {
  const texts = new Map();
  const snapshot = (file) => {
    if (!texts.has(file)) {
      const text = ts.sys.readFile(file);
      texts.set(file, text === undefined ? undefined : ts.ScriptSnapshot.fromString(text));
    }
    return texts.get(file);
  };
  const host = {
    getCompilationSettings: () => options,
    getScriptFileNames: () => files.map((file) => path.join(root, file)),
    getScriptVersion: () => "1",
    getScriptSnapshot: snapshot,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath,
  };
  return ts.createLanguageService(host, ts.createDocumentRegistry());
}

const service = makeService(optionsOf(path.join(root, "tsconfig.json")));
const program = service.getProgram();
const checker = program.getTypeChecker();
const sources = program.getSourceFiles().filter(isListed);

// Kinds whose own name is a definition; the names of imports, exports and accesses are uses.
const isDeclaration = (node) =>
  ts.isFunctionLike(node) || ts.isClassLike(node) || ts.isInterfaceDeclaration(node) ||
  ts.isEnumDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isVariableDeclaration(node) ||
  ts.isPropertyDeclaration(node) || ts.isPropertySignature(node) || ts.isPropertyAssignment(node) ||
  ts.isModuleDeclaration(node);

// Other nodes whose name introduces something and uses nothing.
const isIntroduction = (node) =>
  ts.isParameter(node) || ts.isTypeParameterDeclaration(node) || ts.isEnumMember(node);

function declarationsAt(node) {
  let symbol = checker.getSymbolAtLocation(node);
  if (node.parent && ts.isShorthandPropertyAssignment(node.parent))
    symbol = checker.getShorthandAssignmentValueSymbol(node.parent) ?? symbol;
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const roots = symbol ? checker.getRootSymbols(symbol) : [];
  return [...new Set(roots.flatMap((each) => each.declarations ?? []))];
}

function declaredPlaces(node) {
  let found = [];
  try {
    found = declarationsAt(node);
  } catch {
    return []; // the checker gives up on some broken code
  }
  return found
    .filter((declaration) => isListed(declaration.getSourceFile()))
    .map((declaration) => (declaration.name ?? declaration))
    .map((name) => placeOf(name.getSourceFile(), name.getStart(name.getSourceFile())));
}

const keyOf = (place) => place.join(":");
const names = new Map(); // path and name → places of definitions
const uses = new Map(); // place of a definition → places of uses
const undecided = []; // places whose name has no symbol, because the type before it is any
const sampled = new Set(definitions.filter(({ sample }) => sample).map(({ name }) => name));
const bases = [];
const imports = [];

function addTo(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(value);
}

function visitName(source, node) {
  const here = placeOf(source, node.getStart(source));
  const { parent } = node;
  if (parent?.name === node && isDeclaration(parent)) addTo(names, `${here[0]}:${node.text}`, here);
  else if (!(parent?.name === node && isIntroduction(parent))) {
    if (sampled.has(node.text) && !checker.getSymbolAtLocation(node)) undecided.push(here);
    for (const target of declaredPlaces(node))
      if (keyOf(target) !== keyOf(here)) addTo(uses, keyOf(target), here);
  }
}

function visitBases(source, clause) {
  for (const { expression } of clause.types) {
    const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
    if (!ts.isIdentifier(name)) continue;
    const [file, line] = placeOf(source, name.getStart(source));
    if (checker.getSymbolAtLocation(name))
      bases.push({ path: file, line, name: name.text, targets: declaredPlaces(name) });
  }
}

// The module that a node names, if it is a kind of import.
function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (ts.isExternalModuleReference(node)) return node.expression;
  return undefined;
}

const nearest = new Map(); // folder → options of the tsconfig file that is nearest above it

function optionsAbove(directory) {
  if (!nearest.has(directory)) {
    const file = path.join(directory, "tsconfig.json");
    const isTop = directory === root || directory === path.dirname(directory);
    nearest.set(directory, ts.sys.fileExists(file) || isTop ? optionsOf(file) : optionsAbove(path.dirname(directory)));
  }
  return nearest.get(directory);
}

function importedFile(source, specifier, options) {
  const mode = ts.getModeForUsageLocation(source, specifier, options);
  const { fileName } = source;
  const { resolvedModule } = ts.resolveModuleName(specifier.text, fileName, options, ts.sys, undefined, undefined, mode);
  const target = resolvedModule && relative(fs.realpathSync(resolvedModule.resolvedFileName));
  return listed.has(target) ? target : undefined;
}

// A file is resolved with the tsconfig above it, as its own build does. What only the tsconfig of the root can
// resolve (a package of the workspace that is not built) is implied: a right answer that nobody has to give.
function visitImport(source, specifier) {
  const own = importedFile(source, specifier, optionsAbove(path.dirname(source.fileName)));
  const target = own ?? importedFile(source, specifier, optionsAbove(root));
  const [file, line] = placeOf(source, specifier.getStart(source));
  if (target && target !== file) imports.push([file, target, line, specifier.text, own === undefined]);
}

function visit(source, node) {
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) visitName(source, node);
  if (ts.isHeritageClause(node)) visitBases(source, node);
  const specifier = specifierOf(node);
  if (specifier && ts.isStringLiteralLike(specifier)) visitImport(source, specifier);
  ts.forEachChild(node, (child) => visit(source, child));
}

// The first name inside each range of a definition: a later one is nested in it.
function namesOf(definition) {
  const inFile = names.get(`${definition.path}:${definition.name}`) ?? [];
  return definition.ranges
    .map(([start, end]) => inFile.find(([, line]) => start <= line && line <= end))
    .filter(Boolean);
}

function editorReferences(place) {
  const source = program.getSourceFile(path.join(root, place[0]));
  const position = source.getPositionOfLineAndCharacter(place[1] - 1, place[2]);
  const found = (service.findReferences(source.fileName, position) ?? []).flatMap((group) => group.references);
  return found
    .filter((use) => !use.isDefinition)
    .map((use) => [program.getSourceFile(use.fileName), use.textSpan.start])
    .filter(([file]) => file && isListed(file))
    .map(([file, start]) => placeOf(file, start));
}

for (const source of sources) visit(source, source);
const answers = definitions.map((definition) => {
  const places = namesOf(definition);
  const direct = places.flatMap((place) => uses.get(keyOf(place)) ?? []);
  const asked = definition.sample ? places.flatMap(editorReferences) : direct;
  return { names: places, uses: asked, direct };
});
const result = { files: sources.map((source) => relative(source.fileName)), answers, imports, bases, undecided };
fs.writeFileSync(1, JSON.stringify(result));
