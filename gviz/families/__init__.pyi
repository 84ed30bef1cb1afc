from gviz.families.family import KernelFamily as KernelFamily
from gviz.families.family import KernelLibrary as KernelLibrary
from gviz.families.family import Kind as Kind
from gviz.families.naming import family_of as family_of
