// The truth about a Go repository: every identifier, resolved by go/types.
//
//	go_oracle REPOSITORY LIBRARIES > {"files", "names", "uses", "unresolved", "errors", "missing"}
//
// LIBRARIES is a folder in the layout of GOPATH/src. A package that is in neither place is taken for empty:
// what flows through its types is not resolved, and the package is listed as missing.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// place is a position in a file of the repository: path, line from 1, column from 0.
type place [3]any

type named struct {
	Name  string `json:"name"`
	Place place  `json:"place"`
}

type use struct {
	Place  place `json:"place"`
	Target place `json:"target"`
}

type result struct {
	Files      []string `json:"files"`
	Names      []named  `json:"names"`
	Uses       []use    `json:"uses"`
	Unresolved []named  `json:"unresolved"`
	Errors     int      `json:"errors"`
	Missing    []string `json:"missing"`
}

// loader finds packages in the repository, the libraries and the standard library.
type loader struct {
	root, module, libraries string
	files                   *token.FileSet
	context                 build.Context
	standard                types.ImporterFrom
	packages                map[string]*types.Package
	result                  result
}

func newLoader(root, libraries string) *loader {
	files := token.NewFileSet()
	context := build.Default
	context.CgoEnabled = false
	return &loader{
		root:      root,
		module:    moduleName(root),
		libraries: libraries,
		files:     files,
		context:   context,
		standard:  importer.ForCompiler(files, "source", nil).(types.ImporterFrom),
		packages:  map[string]*types.Package{"unsafe": types.Unsafe},
	}
}

func moduleName(root string) string {
	content, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range strings.Split(string(content), "\n") {
		if name, found := strings.CutPrefix(line, "module "); found {
			return strings.TrimSpace(name)
		}
	}
	log.Fatal("go.mod names no module")
	return ""
}

// folderOf returns where the source of a package is; empty if only the standard library can have it.
func (l *loader) folderOf(name string) string {
	if name == l.module {
		return l.root
	}
	if below, found := strings.CutPrefix(name, l.module+"/"); found {
		return filepath.Join(l.root, below)
	}
	folder := filepath.Join(l.libraries, name)
	if state, err := os.Stat(folder); err == nil && state.IsDir() {
		return folder
	}
	return ""
}

// parse returns the files of a folder that this system builds, by package name.
func (l *loader) parse(folder string, withTests bool) map[string][]*ast.File {
	entries, _ := os.ReadDir(folder)
	packages := map[string][]*ast.File{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || (!withTests && strings.HasSuffix(name, "_test.go")) {
			continue
		}
		if matches, err := l.context.MatchFile(folder, name); err != nil || !matches {
			continue
		}
		file, _ := parser.ParseFile(l.files, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if file != nil {
			packages[file.Name.Name] = append(packages[file.Name.Name], file)
		}
	}
	return packages
}

func (l *loader) Import(name string) (*types.Package, error) { return l.ImportFrom(name, "", 0) }

func (l *loader) ImportFrom(name, _ string, _ types.ImportMode) (*types.Package, error) {
	if known, found := l.packages[name]; found {
		return known, nil
	}
	folder := l.folderOf(name)
	if folder == "" {
		l.packages[name] = l.outside(name)
		return l.packages[name], nil
	}
	l.packages[name] = types.NewPackage(name, filepath.Base(name))
	configuration := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: true}
	for packageName, files := range l.parse(folder, false) {
		if packageName == "main" {
			continue
		}
		if checked, _ := configuration.Check(name, l.files, files, nil); checked != nil {
			l.packages[name] = checked
		}
	}
	return l.packages[name], nil
}

// outside returns a package of the standard library, or an empty one in place of what is not here.
func (l *loader) outside(name string) *types.Package {
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		if found, err := l.standard.ImportFrom(name, l.root, 0); err == nil {
			return found
		}
	}
	l.result.Missing = append(l.result.Missing, name)
	empty := types.NewPackage(name, filepath.Base(name))
	empty.MarkComplete()
	return empty
}

func (l *loader) placeOf(position token.Pos) (place, bool) {
	at := l.files.Position(position)
	path, err := filepath.Rel(l.root, at.Filename)
	if at.Filename == "" || err != nil || strings.HasPrefix(path, "..") {
		return place{}, false
	}
	return place{filepath.ToSlash(path), at.Line, at.Column - 1}, true
}

// record checks a package and keeps its definitions and uses.
func (l *loader) record(name string, files []*ast.File) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	configuration := types.Config{Importer: l, Error: func(error) { l.result.Errors++ }, FakeImportC: true}
	configuration.Check(name, l.files, files, info)
	for identifier, object := range info.Defs {
		if at, inside := l.placeOf(identifier.Pos()); inside && object != nil {
			l.result.Names = append(l.result.Names, named{identifier.Name, at})
		}
	}
	for identifier, object := range info.Uses {
		at, inside := l.placeOf(identifier.Pos())
		target, known := l.placeOf(origin(object).Pos())
		if inside && known {
			l.result.Uses = append(l.result.Uses, use{at, target})
		}
	}
	for _, file := range files {
		l.recordUnresolved(file, info)
	}
}

// recordUnresolved keeps the selected names that have no object, because the type before them is not known.
func (l *loader) recordUnresolved(file *ast.File, info *types.Info) {
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, is := node.(*ast.SelectorExpr); is && info.Uses[selector.Sel] == nil {
			if at, inside := l.placeOf(selector.Sel.Pos()); inside {
				l.result.Unresolved = append(l.result.Unresolved, named{selector.Sel.Name, at})
			}
		}
		return true
	})
}

// origin returns the generic function or field that an object is an instance of, or the object itself.
func origin(object types.Object) types.Object {
	switch known := object.(type) {
	case *types.Func:
		return known.Origin()
	case *types.Var:
		return known.Origin()
	}
	return object
}

func (l *loader) recordFolder(folder string) {
	name := l.module
	if below, _ := filepath.Rel(l.root, folder); below != "." {
		name += "/" + filepath.ToSlash(below)
	}
	packages := l.parse(folder, true)
	names := make([]string, 0, len(packages))
	for packageName := range packages {
		names = append(names, packageName)
	}
	sort.Strings(names)
	for _, packageName := range names {
		for _, file := range packages[packageName] {
			if at, inside := l.placeOf(file.Pos()); inside {
				l.result.Files = append(l.result.Files, at[0].(string))
			}
		}
		l.record(name, packages[packageName])
	}
}

func isLeftOut(name string) bool {
	return strings.HasPrefix(name, ".") || name == "testdata" || name == "vendor" || name == "node_modules"
}

func main() {
	root, err := filepath.EvalSymlinks(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	root, _ = filepath.Abs(root)
	l := newLoader(root, os.Args[2])
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if path != root && isLeftOut(entry.Name()) {
			return filepath.SkipDir
		}
		l.recordFolder(path)
		return nil
	})
	json.NewEncoder(os.Stdout).Encode(l.result)
}
